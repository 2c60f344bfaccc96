"""The house's own look of the players' page: its colours, a logo, and a picture and words that are shown between two
shoes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from msgspec import Struct
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route


class Face(Struct, frozen=True):
    """The house's own look of the players' page."""

    colours: Mapping[str, str] = {}
    """The page's colours by their keys, all of them; none where the shipped ones hold."""

    images: Mapping[str, tuple[bytes, str]] = {}
    """The logo and the picture, each with its media type."""

    celebrates: str = "a_while"
    welcome: Mapping[str, str] = {}

    def filled(self, page: str, languages: Sequence[str]) -> str:
        """Return the HTML page with the house's logo and picture put in their places, its words of welcome in these
        languages, and its choice of how a win is celebrated."""
        shown = {name: f'<img class="{name}" src="/house/{name}" alt="">' for name in self.images}
        said = [(each, self.welcome[each]) for each in languages if each in self.welcome]
        words = "".join(f'<p lang="{each}">{escape(text)}</p>' for each, text in said)
        parts = {"logo": shown.get("logo", ""), "picture": shown.get("picture", ""), "welcome": words}
        for name, part in {**parts, "celebrates": self.celebrates}.items():
            page = page.replace(f"{{{{house.{name}}}}}", part)
        return page

    def routes(self) -> list[Route]:
        """Return the web server's routes that deliver the house's colours (as CSS) and its images."""
        return [Route("/house.css", self._style), Route("/house/{name}", self._image)]

    async def _style(self, _request: Request) -> Response:
        own = dict(self.colours)
        if own:  # lines between what stands there, and no lamp over the felt
            own |= {"light": "var(--felt)", "line": "color-mix(in srgb, var(--accent) 45%, var(--panel))"}
        css = ":root { " + " ".join(f"--{name}: {colour};" for name, colour in own.items()) + " }\n"
        return Response(css, media_type="text/css")

    async def _image(self, request: Request) -> Response:
        if (image := self.images.get(request.path_params["name"])) is None:
            return PlainTextResponse("The house has no such picture.\n", 404)
        return Response(image[0], media_type=image[1])


SHIPPED = Face()
"""The face of a house that says nothing of its page."""
