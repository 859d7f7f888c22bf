"""The live samples that the gateway has not acknowledged. They are on disk, because a phone ends an app whenever it likes."""

import json
import sqlite3


class Outbox:
    """Keeps at most `limit` samples. A full one lets the oldest go: it is in the band's history still, the newest perhaps not yet."""

    def __init__(self, path, limit=4_000):
        self.limit = limit
        self.file = sqlite3.connect(path)
        self.file.execute("PRAGMA journal_mode = WAL")
        self.file.execute("PRAGMA synchronous = FULL")
        self.file.execute("CREATE TABLE IF NOT EXISTS samples (number INTEGER PRIMARY KEY AUTOINCREMENT, sample TEXT NOT NULL)")
        self.file.execute("CREATE TABLE IF NOT EXISTS marks (metric TEXT PRIMARY KEY, through INTEGER NOT NULL)")

    def add(self, sample):
        """Keeps a sample, and returns its number."""
        with self.file:
            number = self.file.execute("INSERT INTO samples (sample) VALUES (?)", (json.dumps(sample),)).lastrowid
            newest = "SELECT number FROM samples ORDER BY number DESC LIMIT ?"
            self.file.execute("DELETE FROM samples WHERE number NOT IN (%s)" % newest, (self.limit,))
        return number

    def remove(self, number):
        with self.file:
            self.file.execute("DELETE FROM samples WHERE number = ?", (number,))

    def all(self):
        """Every sample that is kept, with its number, oldest first."""
        return [(number, json.loads(text)) for number, text in self.file.execute("SELECT number, sample FROM samples ORDER BY number")]

    def mark(self, metric, through):
        """Remembers up to which start the gateway has the history of a metric: what an app shows as its last synchronisation."""
        with self.file:
            later = "ON CONFLICT (metric) DO UPDATE SET through = max(through, excluded.through)"
            self.file.execute("INSERT INTO marks VALUES (?, ?) " + later, (metric, through))

    def marks(self):
        return dict(self.file.execute("SELECT metric, through FROM marks"))

    def close(self):
        self.file.close()
