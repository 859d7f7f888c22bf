"""Walks through the pages of a real gateway as a person would, in a real Chromium. See Tests/Campaigns/pages/run."""

import argparse
import os
import sys
import tempfile

from scene import Scene
from visitor import Visitor
from waiting import Finding
from walk import walk


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gateway", required=True)
    parser.add_argument("--pictures", metavar="FOLDER", help="take a picture of each page, and keep them there")
    options = parser.parse_args()
    if options.pictures:
        os.makedirs(options.pictures, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="pages-", ignore_cleanup_errors=True) as folder:
        scene, visitor = Scene(options.gateway, folder), None
        try:
            scene.start()
            visitor = Visitor(scene.base, os.environ["AXE"], options.pictures, os.path.join(folder, "browser"), scene.run)
            walk(visitor, scene)
            scene.gateway.stop()
        except Finding as finding:
            print(finding, file=sys.stderr)
            print("".join(scene.gateway.lines[-20:]), file=sys.stderr)
            if visitor and options.pictures:
                visitor.picture("finding.png", 1280, "light")
            return 1
        finally:
            scene.end()
    return 0


if __name__ == "__main__":
    sys.exit(main())
