package import Vitals

/// A recording of links: a text file with one JSON object per line, in UTF-8, in the order of events.
///
///     {"vitals2mqtt_recording":1,"gateway":"1.0","began":1767225600000}
///     {"at":12,"link":1,"event":"open","device":"band-1","driver":"link","kind":"bytes"}
///     {"at":13,"link":1,"event":"sent","bytes":"7b7d0a"}
///     {"at":20,"link":1,"event":"received","bytes":"7b7d2a2a0a","masked":[[2,2]]}
///     {"at":99,"link":1,"event":"end","how":"device"}
///     {"at":99,"event":"stop","reason":"done"}
///
/// `at` is in milliseconds since the recording began, on a clock that never jumps; `began` is Unix time in milliseconds. Bytes are
/// hexadecimal. `masked` lists an offset and a count for each part that was masked.
///
/// The `open` line of a Bluetooth link has `"kind":"gatt"`, `payload`, and `services`: each with `uuid` and `characteristics`, and each
/// of those with `uuid`, `handle`, and `properties` as in `GATTProperties`. Its further lines:
///
///     {"at":30,"link":2,"event":"call","call":1,"do":"write","handle":9,"response":true,"bytes":"01"}
///     {"at":41,"link":2,"event":"answer","call":1}
///     {"at":50,"link":2,"event":"value","handle":6,"bytes":"0048"}
///
/// `do` is `read`, `write`, `subscribe`, `unsubscribe` or `serve` (then `uuids` has the offered services). An answer has the `bytes` of a
/// read, or an `error`: `{"att":5}` or `{"link":"broken","message":"…"}`. `end` says `how`: `device`, `gateway`, or `broken` with an `error`.
///
/// `{"event":"lost","lines":3}` says that the disk was too slow for three lines. `stop` is the last line: its `reason` is `done`, or
/// `limit` when the file reached its size. Without it the gateway was killed.
package struct Recording: Sendable, Hashable {
    /// The version of the format that this gateway writes and reads.
    package static let version = 1

    /// How a recording ended.
    package enum Stop: String, Sendable, Hashable {
        /// The gateway ended.
        case done
        /// The file reached its size.
        case limit
        /// The gateway was killed.
        case killed
    }

    /// The date at its beginning.
    package var began: Timestamp
    /// Its links, in the order of their opening.
    package var links: [RecordedLink]
    /// How it ended.
    package var stop: Stop

    /// A recording.
    package init(began: Timestamp, links: [RecordedLink], stop: Stop) {
        self.began = began
        self.links = links
        self.stop = stop
    }
}
