"""Exports of phones that nobody should read: each function puts one into a folder, beside the good ones.

A function gets the folder and the kind of export, whose `make` writes a good one with samples up to a number.
"""

import contextlib
import os
import socket
import sqlite3
import struct
import threading
import zipfile
import zlib

ATTACKS = []
BOMB = 3 << 30
ENTRIES = 100_000
FILES = 10_000


def attack(does: str, name: str = ""):
    """Adds an attack. Its function may return another one, which ends it."""
    def add(function):
        ATTACKS.append((name or function.__name__, does, function))
        return function
    return add


class Gadgetbridge:
    driver, entry = "gadgetbridge", "database/Gadgetbridge"
    table = "GENERIC_HEART_RATE_SAMPLE"
    text = "UPDATE BASE_ACTIVITY_SUMMARY SET SUMMARY_DATA = "

    @staticmethod
    def make(path: str, starts: list[int]) -> None:
        with contextlib.closing(sqlite3.connect(path)) as database:
            database.executescript("""
                PRAGMA user_version = 137;
                CREATE TABLE DEVICE (_id INTEGER PRIMARY KEY, NAME TEXT, IDENTIFIER TEXT, ALIAS TEXT);
                INSERT INTO DEVICE VALUES (1, 'Band', 'C0:11:22:33:44:55', NULL);
                CREATE TABLE BATTERY_LEVEL (TIMESTAMP, DEVICE_ID, LEVEL, BATTERY_INDEX);
                CREATE TABLE BASE_ACTIVITY_SUMMARY (_id INTEGER PRIMARY KEY, START_TIME, END_TIME, ACTIVITY_KIND, DEVICE_ID,
                    SUMMARY_DATA TEXT);
                CREATE TABLE GENERIC_HEART_RATE_SAMPLE (TIMESTAMP INTEGER NOT NULL, DEVICE_ID INTEGER NOT NULL,
                    USER_ID INTEGER NOT NULL, HEART_RATE INTEGER NOT NULL,
                    PRIMARY KEY (TIMESTAMP, DEVICE_ID) ON CONFLICT REPLACE) WITHOUT ROWID;
                """)
            database.execute("INSERT INTO BASE_ACTIVITY_SUMMARY VALUES (1, ?, ?, 16, 1, '{}')", (starts[0], starts[0] + 600_000))
            database.executemany("INSERT INTO GENERIC_HEART_RATE_SAMPLE VALUES (?, 1, 1, 61)", [(start,) for start in starts])
            database.commit()


class HealthConnect:
    driver, entry = "health-connect-export", "health_connect_export.db"
    table = "resting_heart_rate_record_table"
    text = "UPDATE application_info_table SET app_name = "

    @staticmethod
    def make(path: str, starts: list[int]) -> None:
        with contextlib.closing(sqlite3.connect(path)) as database:
            database.executescript("""
                PRAGMA user_version = 23;
                CREATE TABLE application_info_table (row_id INTEGER PRIMARY KEY, package_name TEXT NOT NULL UNIQUE, app_name TEXT,
                    app_icon BLOB, record_types_used TEXT);
                CREATE TABLE device_info_table (row_id INTEGER PRIMARY KEY, manufacturer TEXT, model TEXT, device_type INTEGER);
                INSERT INTO application_info_table VALUES (1, 'com.example.watch', 'Watch', NULL, NULL);
                INSERT INTO device_info_table VALUES (1, 'Example', 'Watch 3', 1);
                CREATE TABLE resting_heart_rate_record_table (row_id INTEGER PRIMARY KEY AUTOINCREMENT, uuid BLOB UNIQUE NOT NULL,
                    last_modified_time INTEGER, client_record_id TEXT, client_record_version TEXT, device_info_id INTEGER,
                    app_info_id INTEGER, recording_method INTEGER, dedupe_hash BLOB UNIQUE, time INTEGER, zone_offset INTEGER,
                    local_date INTEGER, beats_per_minute INTEGER,
                    local_date_time INTEGER AS (time + 1000 * zone_offset));
                """)
            rows = [(b"%016d" % start, start) for start in starts]
            database.executemany(
                "INSERT INTO resting_heart_rate_record_table (uuid, last_modified_time, device_info_id, app_info_id,"
                " recording_method, time, zone_offset, beats_per_minute) VALUES (?, 1, 1, 1, 2, ?, 0, 61)", rows)
            database.commit()


KINDS = [Gadgetbridge, HealthConnect]
START = 1_795_000_000_000  # any moment: no sample of a hostile export needs to arrive


def hostile(folder: str, ending: str = "db") -> str:
    return os.path.join(folder, f"hostile.{ending}")


def made(folder: str, kind, *statements: str) -> str:
    """A good export that these statements change."""
    path = os.path.join(folder, ".hostile")
    kind.make(path, [START])
    with contextlib.closing(sqlite3.connect(path)) as database:
        for statement in statements:
            database.execute(statement)
        database.commit()
    os.rename(path, hostile(folder))
    return hostile(folder)


def patched(folder: str, kind, *patches: tuple[int, bytes]) -> None:
    """A good export with other bytes at some places."""
    with open(made(folder, kind), "r+b") as file:
        for place, content in patches:
            file.seek(place)
            file.write(content)


def resized(folder: str, kind, pages: int | None, size: int) -> None:
    """A good export whose header counts these pages, or its own, with so many bytes, or so many less."""
    patched(folder, kind, *([] if pages is None else [(28, struct.pack(">I", pages))]))
    os.truncate(hostile(folder), size if size > 0 else os.path.getsize(hostile(folder)) + size)


def linked(folder: str, path: str, count: int) -> None:
    """So many names of one file."""
    for number in range(count):
        os.link(path, hostile(folder, f"{number}.db"))


# Databases.

# Good exports that statements change, by the name of the attack. `{table}` is a table of records, and `{text}` begins an update of a text.
ENDLESS = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT"
CHANGED = {
    "endless_view": ("an endless view in place of a table", [
        "DROP TABLE {table}",
        f"CREATE VIEW {{table}} AS {ENDLESS} n AS TIMESTAMP, 1 AS DEVICE_ID, 1 AS USER_ID, 61 AS HEART_RATE, n AS time, 1 AS row_id, "
        "1 AS app_info_id FROM c"]),
    "triggers": ("an endless view that a trigger and a table's default call", [
        f"CREATE VIEW v AS {ENDLESS} n FROM c", "CREATE TRIGGER t AFTER INSERT ON {table} BEGIN SELECT count(*) FROM v; END",
        "CREATE TRIGGER u INSTEAD OF INSERT ON v BEGIN SELECT count(*) FROM v; END"]),
    "generated_column": ("a generated column of 800 MB", ["ALTER TABLE {table} ADD COLUMN more AS (hex(zeroblob(400000000)))"]),
    "heavy_check": ("a check that makes 800 MB for each row", [
        "PRAGMA writable_schema = ON",
        "UPDATE sqlite_master SET sql = substr(sql, 1, length(sql) - 1) || ', CHECK (hex(zeroblob(400000000)) <> \'\'\'\'))' "
        "WHERE name = 'BASE_ACTIVITY_SUMMARY' OR name = 'device_info_table'"]),
    "heavy_index": ("an index over an expression of 800 MB", [
        "CREATE TABLE heavy (a)", "CREATE INDEX i ON heavy (length(hex(zeroblob(a))))", "INSERT INTO heavy VALUES (4)",
        "PRAGMA writable_schema = ON",
        "UPDATE sqlite_master SET sql = replace(sql, 'zeroblob(a)', 'zeroblob(400000000)') WHERE name = 'i'"]),
    "many_tables": ("2,000 tables", [
        "BEGIN", *(f"CREATE TABLE t{number}_SAMPLE (TIMESTAMP, DEVICE_ID, HEART_RATE)" for number in range(2_000))]),
    "shared_pages": ("two tables on one page, and a table on the first one", [
        "PRAGMA writable_schema = ON", "UPDATE sqlite_master SET rootpage = 2 WHERE name = '{table}'",
        "UPDATE sqlite_master SET rootpage = 1 WHERE name = 'BATTERY_LEVEL' OR name = 'device_info_table'"]),
    "blob_300": ("a value of 300 MB", ["{text}zeroblob(300000000)"]),
    "blob_400": ("a value of 400 MB", ["{text}CAST(zeroblob(400000000) AS TEXT)"]),
}
for name, (does, statements) in CHANGED.items():
    attack(does, name)(lambda folder, kind, statements=statements: made(
        folder, kind, *(statement.format(table=kind.table, text=kind.text) for statement in statements)))

# Files whose header counts so many pages, cut or extended to so many bytes.
for name, does, pages, size in (
        ("sparse", "a sparse file of 1 TB with a header of SQLite", (1 << 40) // 4096, 1 << 40),
        ("short_header", "pages that are missing, by a header that counts fewer", 2, 2 * 4096),
        ("cut", "a file that is cut short", None, -1000)):
    attack(does, name)(lambda folder, kind, pages=pages, size=size: resized(folder, kind, pages, size))

attack("a FIFO", "fifo")(lambda folder, _: os.mkfifo(hostile(folder)))
attack("an endless device", "device")(lambda folder, _: os.symlink("/dev/zero", hostile(folder)))
attack("a folder", "directory")(lambda folder, _: os.mkdir(hostile(folder)))
attack(f"{FILES:,} files in the folder", "many_files")(lambda folder, kind: linked(folder, made(folder, kind), FILES))


@attack("a link to another program's database")
def link_elsewhere(folder, kind):
    other = os.path.join(os.path.dirname(folder), f"{kind.driver}.elsewhere")
    with contextlib.suppress(FileNotFoundError):
        os.unlink(other)
    with contextlib.closing(sqlite3.connect(other)) as database:
        database.execute("CREATE TABLE theirs (a)")
    os.symlink(other, hostile(folder))


@attack("a socket")
def listening_socket(folder, _kind):
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(hostile(folder))
    return listener.close


@attack("a hard link to a file that others write")
def hard_link(folder, kind):
    made(folder, kind)
    os.link(hostile(folder), os.path.join(folder, "second.db"))


@attack("sizes of pages that there are not")
def page_sizes(folder, kind):
    for number, size in enumerate((0, 1, 3, 256, 513, 32_768, 65_535)):
        patched(folder, kind, (16, struct.pack(">H", size)))
        os.rename(hostile(folder), hostile(folder, f"{number}.db"))


@attack("logs beside the file: rubbish, a device, a FIFO")
def logs(folder, kind):
    path = made(folder, kind, "PRAGMA journal_mode = WAL")
    linked(folder, path, 3)
    with open(hostile(folder, "0.db-wal"), "wb") as file:
        file.write(struct.pack(">II", 0x377F0682, 3007000) + os.urandom(100_000))
    os.symlink("/dev/zero", hostile(folder, "1.db-wal"))
    os.mkfifo(hostile(folder, "2.db-wal"))
    os.mkfifo(hostile(folder, "2.db-shm"))


def beside(write, is_over: threading.Event, seconds: float):
    """Does it on a thread, after so many seconds. Returns what ends it."""
    thread = threading.Timer(seconds, write)
    thread.daemon = True
    thread.start()

    def end() -> None:
        thread.cancel()
        is_over.set()
        thread.join()
    return end


@attack("rubbish behind a header")
def rubbish(folder, kind):
    path = made(folder, kind)
    size = os.path.getsize(path)
    patched(folder, kind, (100, os.urandom(size - 100)))


@attack("a file that is written without a pause, and shrinks at times")
def restless(folder, kind):
    path = made(folder, kind)
    with open(path, "rb") as file:
        content = file.read()
    is_over = threading.Event()

    def write() -> None:
        number = 0
        while not is_over.wait(0.001):
            number += 1
            with contextlib.suppress(OSError), open(path, "r+b") as file:
                file.write(content[:4096 * (1 + number % 3)])
                file.truncate(len(content) if number % 5 else 4096)
    return beside(write, is_over, 0)


@attack("a file that shrinks after it stood still, with its old time")
def shrinking(folder, kind):
    path = made(folder, kind, "CREATE TABLE large (a)", "INSERT INTO large VALUES (zeroblob(3000000))")
    status = os.stat(path)
    is_over = threading.Event()

    def write() -> None:
        size = status.st_size
        while not is_over.wait(0.0005):
            size = 4096 if size > 4096 else status.st_size
            os.truncate(path, size)
            os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    return beside(write, is_over, 5)


# Archives.

def archived(folder: str, *entries: tuple[str | zipfile.ZipInfo, bytes | str]) -> None:
    path = os.path.join(folder, ".zip")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries:
            archive.writestr(name, content)
    os.rename(path, hostile(folder, "zip"))


def database_of(folder: str, kind) -> bytes:
    path = os.path.join(folder, ".entry")
    kind.make(path, [START])
    with open(path, "rb") as file:
        content = file.read()
    os.unlink(path)
    return content


def raw_archive(folder: str, *entries: tuple[bytes, int, int, bytes, int, int]) -> None:
    """A zip by hand: name, method, check sum, packed bytes, the size by the list, and where the list says that it begins; -1 for where it
    does. An entry elsewhere is not packed."""
    body, listed = b"", b""
    for name, method, checksum, packed, size, place in entries:
        begin, length = (len(body), len(packed)) if place < 0 else (place, size)
        body += struct.pack("<IHHHHHIIIHH", 0x04034B50, 20, 0, method, 0, 0, checksum, length, size, len(name), 0) + name + packed
        listed += struct.pack("<IHHHHHHIIIHHHHHII", 0x02014B50, 20, 20, 0, method, 0, 0, checksum, length, size, len(name), 0, 0, 0,
                              0, 0, begin) + name
    end = struct.pack("<IHHHHIIH", 0x06054B50, 0, 0, len(entries), len(entries), len(listed), len(body), 0)
    with open(os.path.join(folder, ".zip"), "wb") as file:
        file.write(body + listed + end)
    os.rename(os.path.join(folder, ".zip"), hostile(folder, "zip"))


@attack(f"a zip of {BOMB >> 30} GB of zeros")
def bomb(folder, kind):
    packer, chunk = zlib.compressobj(9, zlib.DEFLATED, -15), bytes(1 << 20)
    packed = [packer.compress(chunk) + packer.flush(zlib.Z_FULL_FLUSH)]
    piece = packer.compress(chunk) + packer.flush(zlib.Z_FULL_FLUSH)
    checksum = zlib.crc32(chunk)
    for _ in range((BOMB >> 20) - 1):
        packed.append(piece)
        checksum = zlib.crc32(chunk, checksum)
    packed.append(packer.flush())
    raw_archive(folder, (kind.entry.encode(), 8, checksum, b"".join(packed), BOMB, -1))


@attack("a zip of zeros whose list promises a small entry")
def lying_bomb(folder, kind):
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = packer.compress(bytes(256 << 20)) + packer.flush()
    raw_archive(folder, (kind.entry.encode(), 8, 0, packed, 40_960, -1))


@attack(f"a zip of {ENTRIES:,} entries, and the database as the last one")
def many_entries(folder, kind):
    archived(folder, *((f"photo-{number}", b"") for number in range(ENTRIES)), (kind.entry, b"none"))


@attack("a zip with names that lead out of it")
def dots(folder, kind):
    content = database_of(folder, kind)
    name = os.path.basename(folder)
    archived(folder, (f"../{name}/escaped.db", content), ("/escaped.db", content), (f"../../{kind.entry}", content),
             (f"{kind.entry}/../{kind.entry}", content))


@attack("a zip with the database twice")
def twice(folder, kind):
    content = database_of(folder, kind)
    item = (kind.entry.encode(), 0, zlib.crc32(content), content, len(content), -1)
    raw_archive(folder, item, item)


@attack("a zip whose entries overlap")
def overlapping(folder, kind):
    content = database_of(folder, kind)
    name = kind.entry.encode()
    inner = struct.pack("<IHHHHHIIIHH", 0x04034B50, 20, 0, 0, 0, 0, zlib.crc32(content), len(content), len(content), len(name), 0) + name
    # The second entry begins within the first one.
    raw_archive(folder, (b"outer", 0, 0, inner + content, len(inner + content), -1),
                (name, 0, zlib.crc32(content), b"", len(content), 35))


@attack("a zip whose entry lies outside of the file, or in its list")
def outside(folder, kind):
    for number, place in enumerate((0x7FFFFFFF, 0xFFFFFFFE, 40)):
        raw_archive(folder, (kind.entry.encode(), 0, 0, b"none", 4, place))
        os.rename(hostile(folder, "zip"), hostile(folder, f"{number}.zip"))


@attack("a zip with a link in place of the database")
def archived_link(folder, kind):
    info = zipfile.ZipInfo(kind.entry)
    info.create_system, info.external_attr = 3, 0o120777 << 16
    archived(folder, (info, "/dev/zero"))


@attack("rubbish that begins as a zip")
def zip_rubbish(folder, _kind):
    with open(hostile(folder, "zip"), "wb") as file:
        file.write(b"PK\x03\x04" + os.urandom(1_000_000))
