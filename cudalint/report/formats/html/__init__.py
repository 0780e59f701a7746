"""The report as one page that opens without a network: kernels, their source with what each line takes, and pictures.

`page.py` makes the page of a result, `sections.py` that of one kernel, and the templates (Jinja2, which escapes all
that goes into them) have no figures of their own. Scripts and styles are allowed by their digests alone.
"""
