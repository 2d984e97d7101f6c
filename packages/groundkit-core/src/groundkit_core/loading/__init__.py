"""Finding files and turning their bytes into documents."""
