"""Markdown that people wrote, to HTML that cannot harm: no raw HTML, no images, nothing fetched from anywhere."""

from functools import lru_cache

import nh3
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt

TAGS = frozenset(
    "p br strong em s code pre blockquote ul ol li h3 h4 h5 h6 hr a table thead tbody tr th td".split()  # noqa: SIM905 (reads as a line)
)
ATTRIBUTES = {"a": frozenset({"href"}), "ol": frozenset({"start"})}
SCHEMES = frozenset({"http", "https", "mailto"})
HEADING_SHIFT = 2  # "# Title" stands under the page's h2


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "breaks": True}).enable(["table", "strikethrough"])
    return parser.disable(["image"])


@lru_cache(maxsize=512)
def render_markdown(text: str) -> SafeString:
    """Return sanitised HTML; headings begin at level 3."""
    tokens = _parser().parse(text)
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(int(token.tag[1]) + HEADING_SHIFT, 6)}"
    html = _parser().renderer.render(tokens, _parser().options, {})
    clean = nh3.clean(
        html,
        tags=set(TAGS),
        attributes={name: set(names) for name, names in ATTRIBUTES.items()},
        url_schemes=set(SCHEMES),
        link_rel="noopener noreferrer nofollow",
        url_relative="deny",
    )
    return mark_safe(clean)  # noqa: S308 (nh3 has cleaned it)
