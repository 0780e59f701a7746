"""The kernel IR: what the front end makes of CUDA source, and all that is known of it further on."""
