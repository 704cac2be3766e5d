"""Simulated hosts: GitHub with this repository and its release, and the server of the Marketplace's catalog."""

from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha1
import io
import json
from pathlib import Path
import re
import shutil
import subprocess
from zipfile import ZipFile

from aiohttp import web

from tests.tools.demo.config_folder import INTEGRATION, ROOT

from .server import Site

BRANCH = "main"
_ID = 1
_TOKEN = "token"
_REFUSED = (401, {"message": "Bad credentials"})
_LISTS = {"critical", "removed"}
"""Parts of the catalog that are lists. All other parts are dictionaries by ID."""

type Answer = tuple[int, object]


@dataclass(frozen=True)
class Repository:
    """A repository with one branch. The head of the branch is the only release."""

    full_name: str
    version: str
    files: Mapping[str, bytes]

    @cached_property
    def archive(self) -> bytes:
        """The release as a ZIP archive."""
        folder = f"{self.full_name.rpartition('/')[2]}-{self.version}"
        content = io.BytesIO()
        with ZipFile(content, "w") as archive:
            for path, data in self.files.items():
                archive.writestr(f"{folder}/{path}", data)
        return content.getvalue()

    @cached_property
    def commit(self) -> str:
        """The ID of the only commit. Unlike in Git, it is the hash of the archive."""
        return sha1(self.archive, usedforsecurity=False).hexdigest()

    def has(self, ref: str) -> bool:
        """Return whether a branch, tag or commit has this name."""
        name = ref.removeprefix("refs/").removeprefix("heads/").removeprefix("tags/")
        return name in {BRANCH, self.version, self.commit}


def this_repository() -> Repository:
    """Return this repository. Its release contains all files of the working folder that Git does not ignore."""
    git = shutil.which("git")
    assert git, "there is no git on this machine"
    listing = subprocess.run(  # noqa: S603
        [git, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    paths = [Path(path) for path in listing.split("\0") if path]
    manifest = json.loads((INTEGRATION / "manifest.json").read_text())
    return Repository(
        full_name=manifest["documentation"].removeprefix("https://github.com/"),
        version=manifest["version"],
        files={
            path.as_posix(): (ROOT / path).read_bytes()
            for path in paths
            if (ROOT / path).is_file()
        },
    )


def sites(repository: Repository) -> dict[str, Site]:
    """Return the handler of each simulated host, by host name."""
    hosting = _Hosting(repository)
    return {
        "github.com": hosting.pages,
        "codeload.github.com": hosting.archives,
        "raw.githubusercontent.com": hosting.raw,
        "api.github.com": hosting.api,
        "data-v2.hacs.xyz": _catalogue,
    }


class _Hosting:
    def __init__(self, repository: Repository) -> None:
        self._repository = repository

    async def pages(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer for github.com: accept each sign-in of a device at once, and redirect requests for archives."""
        if request.path == "/login/device/code":
            return web.json_response(
                {
                    "device_code": "device",
                    "user_code": "ABCD-1234",
                    "verification_uri": "https://github.com/login/device",
                    "expires_in": 900,
                    "interval": 1,
                }
            )
        if request.path == "/login/oauth/access_token":
            return web.json_response(
                {"access_token": _TOKEN, "token_type": "bearer", "scope": ""}
            )
        if archive := self._path(request, r"/archive/(.+)\.zip"):
            return web.Response(
                status=302,
                headers={
                    "Location": f"https://codeload.github.com/{self._repository.full_name}/zip/{archive[1]}"
                },
            )
        return web.Response(status=404)

    async def archives(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer with the archive of a branch, tag or commit, or with 404 if it does not exist."""
        wanted = self._path(request, r"/zip/(.+)")
        if wanted and self._repository.has(wanted[1]):
            body = self._repository.archive
            return web.Response(body=body, content_type="application/zip")
        return web.Response(status=404)

    async def raw(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer with a file of a branch, tag or commit, or with 404 if it does not exist."""
        wanted, repository = self._path(request, r"/([^/]+)/(.+)"), self._repository
        if wanted and repository.has(wanted[1]) and wanted[2] in repository.files:
            body = repository.files[wanted[2]]
            return web.Response(body=body, content_type="text/plain", charset="utf-8")
        return web.Response(status=404)

    async def api(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer the API requests of a user with the token, and refuse all other requests with 401."""
        signed_in = request.headers.get("Authorization") == f"token {_TOKEN}"
        status, data = self._data(request) if signed_in else _REFUSED
        return web.json_response(data, status=status)

    def _data(self, request: web.BaseRequest) -> Answer:
        if request.path == "/rate_limit":
            core = {"limit": 5000, "remaining": 5000, "reset": 0, "used": 0}
            return 200, {"resources": {"core": core}}
        if self._path(request, "", below="/repos"):
            return 200, self._about()
        if self._path(request, "/releases", below="/repos"):
            return 200, [self._release()]
        if self._path(request, f"/branches/{BRANCH}", below="/repos"):
            return 200, {"name": BRANCH, "commit": {"sha": self._repository.commit}}
        if wanted := self._path(request, "/git/trees/(.+)", below="/repos"):
            return self._tree(wanted[1])
        if wanted := self._path(request, "/contents/(.+)", below="/repos"):
            return self._content(wanted[1], request.query.get("ref", BRANCH))
        return 404, {"message": "Not Found"}

    def _path(
        self, request: web.BaseRequest, pattern: str, *, below: str = ""
    ) -> re.Match[str] | None:
        """Match a request for `below`, the repository's full name and then the pattern. Return None for any other path."""
        start = re.escape(f"{below}/{self._repository.full_name}")
        return re.fullmatch(start + pattern, request.path)

    def _about(self) -> object:
        owner, _, name = self._repository.full_name.partition("/")
        return {
            "id": _ID,
            "name": name,
            "full_name": self._repository.full_name,
            "owner": {"login": owner},
            "description": "Bike Tracker",
            "default_branch": BRANCH,
            "archived": False,
            "fork": False,
            "has_issues": True,
            "open_issues_count": 0,
            "open_issues": 0,
            "stargazers_count": 0,
            "topics": [],
            "pushed_at": "2026-11-20T12:00:00Z",
        }

    def _release(self) -> object:
        return {
            "id": _ID,
            "tag_name": self._repository.version,
            "name": self._repository.version,
            "draft": False,
            "prerelease": False,
            "body": "",
            "published_at": "2026-11-20T12:00:00Z",
            "assets": [],
        }

    def _tree(self, ref: str) -> Answer:
        if not self._repository.has(ref):
            return 404, {"message": "Not Found"}
        files = self._repository.files
        folders = {
            folder.as_posix()
            for path in files
            for folder in Path(path).parents
            if folder.name
        }
        entries = [{"path": path, "type": "tree"} for path in folders]
        entries += [{"path": path, "type": "blob"} for path in files]
        entries.sort(key=lambda entry: entry["path"])
        return 200, {
            "sha": self._repository.commit,
            "tree": entries,
            "truncated": False,
        }

    def _content(self, path: str, ref: str) -> Answer:
        content = self._repository.files.get(path)
        if content is None or not self._repository.has(ref):
            return 404, {"message": "Not Found"}
        return 200, {
            "type": "file",
            "path": path,
            "encoding": "base64",
            "content": b64encode(content).decode(),
        }


async def _catalogue(request: web.BaseRequest) -> web.StreamResponse:
    """Answer with a part of an empty catalog."""
    section = request.path.strip("/").partition("/")[0]
    return web.json_response([] if section in _LISTS else {})
