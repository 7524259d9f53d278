"""Markdown of people: structure survives, everything that could harm or fetch does not. An image becomes a link."""

from html.parser import HTMLParser

import pytest

from scorecards.markdown import render_markdown


def test_headings_begin_below_those_of_the_page():
    assert render_markdown("# One\n\n## Two") == "<h3>One</h3>\n<h4>Two</h4>\n"


class Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, attrs))


def tags_of(html):
    parser = Tags()
    parser.feed(html)
    return parser.found


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        '<img src="x" onerror="alert(1)">',
        "![x](https://example.org/x.png)",
        "[x](javascript:alert(1))",
        "[x](data:text/html,hello)",
        "<a href='file:///etc/passwd'>x</a>",
        "[x](//example.org/x)",
        '<p style="background:url(//example.org)">x</p>',
    ],
)
def test_nothing_harmful_comes_out(text):
    tags = tags_of(render_markdown(text))
    assert {name for name, _ in tags} <= {"p", "a"}
    addresses = [value for _, attributes in tags for name, value in attributes if name != "rel"]
    assert all(address.startswith("https://") for address in addresses)


def test_links_keep_http_and_lose_the_referrer():
    html = render_markdown("[x](https://example.org/)")
    assert html == '<p><a href="https://example.org/" rel="noopener noreferrer nofollow">x</a></p>\n'


def test_tables_and_line_breaks_are_kept():
    assert "<td>1</td>" in render_markdown("|a|\n|-|\n|1|")
    assert "<br>" in render_markdown("one\ntwo")
