"""Pictures as SVG: pure functions from figures to text, which the HTML report and the documentation share.

Colours are classes, so that a page may show them in light and in dark; `Drawing.standalone` adds the style for a
file of its own. Whatever text goes in is escaped by `svg.text`.
"""
