"""Reports as text: one file per format, one wording."""
