"""Results of earlier runs, kept in the user's cache folder with all that they rest on."""
