"""Packs and unpacks the seeds: one archive for each target, which OSS-Fuzz takes as it is.

    python3 fuzz/seeds.py unpack [FOLDER [TARGET...]]   # seeds/TARGET.zip and regressions/TARGET into FOLDER/TARGET, by default fuzz/corpus
    python3 fuzz/seeds.py pack FOLDER TARGET...         # the files of FOLDER/TARGET become seeds/TARGET.zip

An archive depends on its seeds only: they are sorted by name and carry no time.
"""

import pathlib
import shutil
import sys
import zipfile

here = pathlib.Path(__file__).parent
seeds = here / "seeds"


def unpack(folder, targets):
    for target in targets:
        out = folder / target
        out.mkdir(parents=True, exist_ok=True)
        archive = seeds / f"{target}.zip"
        if archive.exists():
            zipfile.ZipFile(archive).extractall(out)
        for path in (here / "regressions" / target).glob("*"):
            shutil.copy(path, out)


def pack(folder, targets):
    seeds.mkdir(exist_ok=True)
    for target in targets:
        with zipfile.ZipFile(seeds / f"{target}.zip", "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
            for path in sorted((folder / target).iterdir()):
                info = zipfile.ZipInfo(path.name, (1980, 1, 1, 0, 0, 0))
                info.compress_type = zipfile.ZIP_DEFLATED
                info.external_attr = 0o644 << 16
                archive.writestr(info, path.read_bytes())


match sys.argv[1:]:
    case ["unpack"]:
        unpack(here / "corpus", sorted(path.stem for path in seeds.glob("*.zip")))
    case ["unpack", folder, *targets]:
        unpack(pathlib.Path(folder), targets or sorted(path.stem for path in seeds.glob("*.zip")))
    case ["pack", folder, *targets] if targets:
        pack(pathlib.Path(folder), targets)
    case _:
        sys.exit(__doc__)
