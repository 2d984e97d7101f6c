"""Make every generated part of the documentation anew: schemas, command line, examples."""

from scripts import cli_page, examples, schemas

if __name__ == "__main__":
    schemas.main()
    cli_page.main()
    examples.main([])
