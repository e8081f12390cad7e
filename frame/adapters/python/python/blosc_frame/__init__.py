"""Blosc data as NumPy arrays, and a Blosc codec for numcodecs and Zarr.

open, save           frames, b2nd arrays, bloscpack, bcolz and .npy files; slices decode only the blocks they touch;
                     stores of arrays, and tables
compress, ...        single chunks
register             makes numcodecs and Zarr use this package wherever they meet the codec "blosc"
"""

from ._array import Array, CacheInfo, Store, open, save
from ._native import VERSION as __version__
from ._native import BloscError, chunk_info, compress, decompress, decompress_range
from ._table import Table

__all__ = [
    "Array",
    "BloscError",
    "CacheInfo",
    "Store",
    "Table",
    "__version__",
    "chunk_info",
    "compress",
    "decompress",
    "decompress_range",
    "open",
    "register",
    "save",
]


def register(*, partial: bool = True) -> None:
    """Let numcodecs and zarr-python, as far as they are installed, use this package for the codec "blosc".

    It holds for this process: call it in each worker process as well, or have Dask do it with
    ``--preload blosc_frame.preload``. With ``partial``, zarr-python also reads through `zarr.PartialPipeline`, unless
    another pipeline than Zarr's default has been configured.
    """
    try:
        import numcodecs  # noqa: F401
    except ImportError:
        return
    from . import numcodecs as ours

    ours.register()
    try:
        import zarr
    except ImportError:
        return
    from .zarr import default_pipeline

    settings: dict[str, str] = {"codecs.blosc": "blosc_frame.zarr.BloscCodec"}
    # A pipeline that somebody has chosen stays.
    if partial and zarr.config.get("codec_pipeline.path") == default_pipeline():
        settings["codec_pipeline.path"] = "blosc_frame.zarr.PartialPipeline"
    zarr.config.set(settings)
