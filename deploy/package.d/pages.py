#!/usr/bin/env python3
"""Writes the pages of the package: manuals from what the program says of itself, and the licences of what is linked in.

  pages.py commands PROGRAM           the manual of the commands (section 1)
  pages.py keys PROGRAM               the manual of the configuration (section 5)
  pages.py copyright CHECKOUTS SWIFT  Debian's copyright file; the folder of the Swift packages, and Swift's own folder
"""

import glob
import json
import os
import re
import subprocess
import sys

TEXT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "LICENSE")


def said(*command: str) -> str:
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout


def roff(text: str) -> str:
    """A text without macros; code is bold."""
    text = text.replace("\\", "\\[rs]").replace("-", "\\-")
    text = re.sub(r"`([^`]+)`", r"\\fB\1\\fR", text)
    return "\n".join("\\&" + line if line[:1] in (".", "'") else line for line in text.splitlines())


def head(name: str, section: int, about: str, program: str) -> None:
    print(f'.TH {name.upper()} {section} "" "vitals2mqtt {said(program, "--version").strip()}"')
    print(f".SH NAME\n{roff(name)} \\- {roff(about)}")


def heading(argument: dict) -> str:
    names = ", ".join(("--" if one["kind"] == "long" else "-") + one["name"] for one in argument.get("names", []))
    value = argument.get("valueName", "")
    words = {"flag": names, "option": f"{names} <{value}>"}.get(argument["kind"], f"<{value}>")
    return f"\\fB{roff(words)}\\fR"


def subcommands(command: dict, name: str) -> None:
    for one in command.get("subcommands", []):
        if one["commandName"] == "help" or not one.get("shouldDisplay", True):
            continue
        path = f"{name} {one['commandName']}".strip()
        print(f".SS {roff(path)}\n{roff(one.get('abstract', ''))}")
        if one.get("discussion"):
            print(f".PP\n{roff(one['discussion'])}")
        for argument in one.get("arguments", []):
            usual = {"help", "version"} & {name["name"] for name in argument.get("names", [])}
            if argument.get("shouldDisplay", True) and not usual:
                print(f".TP\n{heading(argument)}\n{roff(argument.get('abstract', ''))}")
        subcommands(one, path)


def commands(program: str) -> None:
    command = json.loads(said(program, "--experimental-dump-help"))["command"]
    head("vitals2mqtt", 1, "gateway from health wearables to MQTT", program)
    print(".SH SYNOPSIS\n\\fBvitals2mqtt\\fR \\fIcommand\\fR [\\fIoptions\\fR]")
    print(f".SH DESCRIPTION\n{roff(command['abstract'])}\n.PP\n{roff(command.get('discussion', ''))}\n.SH COMMANDS")
    subcommands(command, "")
    print(".SH FILES\n.TP\n.I /etc/vitals2mqtt/vitals2mqtt.yaml\nThe configuration, with comments.")
    print(".TP\n.I /var/lib/vitals2mqtt\nThe store of the service.\n.SH SEE ALSO\n.BR vitals2mqtt.yaml (5)")


def keys(program: str) -> None:
    head("vitals2mqtt.yaml", 5, "configuration of vitals2mqtt", program)
    print(".SH DESCRIPTION")
    for line in said(program, "config-reference").splitlines()[1:]:
        if line.startswith("#"):
            print(f".SH {roff(line.lstrip('# '))}")
        elif entry := re.match(r"- `([^`]+)`(?: \(([^)]*)\))?: ?(.*)", line):
            print(f".TP\n\\fB{roff(entry[1])}\\fR{roff(f' ({entry[2]})' if entry[2] else '')}\n{roff(entry[3])}")
        elif line.startswith("|"):
            cells = [roff(cell.strip()) for cell in line.strip("|").split("|")]
            if not set(line) <= set("|-: "):
                print(f".TP\n{cells[0]}\n{'; '.join(cells[1:])}")
        else:
            print(roff(line.removeprefix("- ")) if line else ".PP")
    print(".SH SEE ALSO\n.BR vitals2mqtt (1)")


def read(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        return file.read()


def indented(text: str) -> str:
    """A text inside a field: no line is empty."""
    return "\n".join(f" {line.rstrip()}" if line.strip() else " ." for line in text.strip("\n").splitlines())


def paragraph(files: str, text: str, name: str, notice: str = "") -> dict:
    """What Debian's format says of some files. A licence that is not known here ends the run."""
    holders = re.findall(r"(?im)^\W*Copyright (?:\(c\) |© )?([0-9]{4}.*)", text + "\n" + notice)
    if "Apache License" in text:
        short = "Apache-2.0-with-Swift-exception" if "Runtime Library Exception" in text else "Apache-2.0"
    elif "Permission is hereby granted, free of charge" in text:
        short = "Expat"
    else:
        sys.exit(f"{name} has a licence that is not known here. Read it, and add it to {__file__}.")
    return {"files": files, "holders": holders or [f"the authors of {name}"], "short": short, "text": text, "notice": notice}


def checkout(folder: str) -> list[dict]:
    name = os.path.basename(folder)
    found = sorted(glob.glob(f"{folder}/LICEN[CS]E*"))
    if not found:
        sys.exit(f"{folder} has no licence. Ask its authors, or do without it.")
    notice = "".join(read(path) for path in sorted(glob.glob(f"{folder}/NOTICE*")))
    parts = [paragraph(f"{name}/*", read(found[0]), name, notice)]
    for path in sorted(glob.glob(f"{folder}/Sources/**/LICEN[CS]E*", recursive=True)):
        inside = os.path.relpath(os.path.dirname(path), os.path.dirname(folder))
        parts.append(paragraph(f"{inside}/*", read(path), inside))
    return parts


def copyright(checkouts: str, swift: str) -> None:
    folders = sorted(one for one in glob.glob(f"{checkouts}/*") if os.path.isdir(one))
    icu = sorted(glob.glob("/usr/share/doc/libicu[0-9]*/copyright"))
    if not folders:
        sys.exit(f"There are no Swift packages in {checkouts}; --checkouts names their folder.")
    if not icu:
        sys.exit("The licence of ICU, which is in Swift's Foundation, is missing here: apt-get install libicu72, or a newer one.")
    ours = paragraph("*", read(TEXT), "vitals2mqtt")
    ours["holders"] = ["2026 the authors of vitals2mqtt"]
    runtime = paragraph("swift/*", read(f"{swift}/share/swift/LICENSE.txt"), "Swift")
    runtime["holders"] = ["2014-2026 Apple Inc. and the Swift project authors"]
    parts = [ours, runtime] + [part for folder in folders for part in checkout(folder)]
    print("Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\nUpstream-Name: vitals2mqtt")
    print("Comment: The program is linked with Swift's own libraries (swift) and with the Swift packages\n"
          " whose folders are named below; each package of the build is listed.")
    texts: dict[str, str] = {}
    for part in parts:
        # Licences of one name may differ in their words, as those of the Expat family do.
        short = part["short"]
        if short == "Expat":
            short = f"Expat-{part['files'].split('/')[-2]}"
        texts[short] = part["text"]
        print(f"\nFiles: {part['files']}\nCopyright: " + "\n ".join(part["holders"]) + f"\nLicense: {short}")
        if part["notice"]:
            print(f"Comment: Its notice:\n{indented(part['notice'])}")
    print(f"\nFiles: swift/icu/*\nCopyright: 1991-2026 Unicode, Inc. and others\nLicense: ICU\n{indented(read(icu[-1]))}")
    for short, text in texts.items():
        if short.startswith("Apache-2.0"):
            exception = re.search(r"(?s)#* *Runtime Library Exception.*", text)
            text = "On Debian systems the text is in /usr/share/common-licenses/Apache-2.0.\n"
            text += "\n" + exception[0] if exception and short != "Apache-2.0" else ""
        print(f"\nLicense: {short}\n{indented(text)}")


if __name__ == "__main__":
    {"commands": commands, "keys": keys, "copyright": copyright}[sys.argv[1]](*sys.argv[2:])
