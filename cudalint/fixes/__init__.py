"""Other ways of laying out and indexing data, tried on the model before they are suggested."""
