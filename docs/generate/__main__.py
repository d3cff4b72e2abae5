"""``python -m docs.generate``: write all reference pages, remove those that have no source any more."""

from docs.generate.pages import write_pages

if __name__ == "__main__":
    write_pages()
