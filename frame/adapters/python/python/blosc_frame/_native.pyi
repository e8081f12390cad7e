from typing_extensions import Buffer
from os import PathLike
from typing import Any, TypedDict, TypeVar, final, overload

_Out = TypeVar("_Out", bound=Buffer)

class ChunkInfo(TypedDict):
    nbytes: int
    cbytes: int
    blocksize: int
    typesize: int
    codec: str
    filters: list[str]

VERSION: str

class BloscError(RuntimeError): ...

def compress(
    data: Buffer,
    *,
    cname: str = "lz4",
    clevel: int = 5,
    shuffle: int = 1,
    blocksize: int = 0,
    typesize: int | None = None,
    threads: int = 1,
) -> bytes: ...
@overload
def decompress(chunk: Buffer, out: None = None, *, limit: int | None = None, threads: int = 1) -> bytes: ...
@overload
def decompress(chunk: Buffer, out: _Out, *, limit: int | None = None, threads: int = 1) -> _Out: ...
@overload
def decompress_range(chunk: Buffer, start: int, stop: int, out: None = None) -> bytes: ...
@overload
def decompress_range(chunk: Buffer, start: int, stop: int, out: _Out) -> _Out: ...
def chunk_info(chunk: Buffer) -> ChunkInfo: ...
def save(
    path: str | PathLike[str],
    data: Buffer,
    descr: str,
    shape: list[int],
    how: dict[str, Any],
) -> list[str]: ...
@final
class Source:
    def __new__(cls, path: str | PathLike[str], *, threads: int = 1, limit: int | None = None) -> Source: ...
    @property
    def kind(self) -> str: ...
    @property
    def descr(self) -> str | None: ...
    @property
    def itemsize(self) -> int: ...
    @property
    def shape(self) -> list[int]: ...
    @property
    def chunks(self) -> list[int] | None: ...
    @property
    def metadata(self) -> str | None: ...
    @property
    def limit(self) -> int: ...
    def read_box(self, ranges: list[tuple[int, int]], out: Buffer) -> None: ...
    @property
    def closed(self) -> bool: ...
    def close(self) -> None: ...
