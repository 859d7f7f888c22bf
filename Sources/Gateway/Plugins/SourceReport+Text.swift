import Engines
package import GatewayKit
import JSON
package import Vitals

extension SourceReport {
    /// For a terminal: what the file has, and the entries of `devices:` to copy.
    /// - Parameter now: the present; an entry of older records only gets what a first synchronisation needs to read them.
    package func text(at now: Timestamp) -> String {
        // Names come from a file that anyone may have made.
        var text = "\(file.printable) is \(kind.printable).\n"
        for device in devices {
            let title = device.name.isEmpty ? "(without a name)" : device.name.printable
            text += "\n\(title)\n" + device.lines.map { "  \($0.printable)\n" }.joined()
        }
        let entries = entries(at: now)
        guard !entries.isEmpty else { return text + "\nIt has no records yet.\n" }
        return text + "\nTo copy into the configuration, each with an id of your own:\n\ndevices:\n" + entries
    }

    /// The entries of `devices:` in YAML, for every device with records.
    package func entries(at now: Timestamp) -> String {
        let reach = SyncPolicy().first ?? .zero
        let old = "    sync: {first: all}  # all records are older than \(reach.inMilliseconds / 86_400_000) days\n"
        var taken: Set<String> = []
        return devices.filter { !$0.records.isEmpty }.map { device in
            let wish = device.suggestedID
            var id = wish
            var number = 2
            while !taken.insert(id).inserted {
                id = "\(wish)-\(number)"
                number += 1
            }
            // An empty value is none, and a name is one line.
            let line = String(device.name.printable.prefix(ConfigurationLimits.nameLength))
            let name = line.isEmpty ? "" : "    name: \(line.quoted)\n"
            let options = device.options.filter { !$0.value.isEmpty }
                .map { "      \($0.key): \($0.value.quoted)\n" }.joined()
            let remark = device.remark.map { "  # \($0.printable)\n" } ?? ""
            let isOld = device.records.allSatisfy { $0.last < now - reach }
            return remark + "  - id: \(id)\n" + name + "    driver: \(device.driver)\n" + (isOld ? old : "")
                + (options.isEmpty ? "" : "    options:\n" + options)
        }.joined()
    }

    /// All of it for a program, as one line of JSON.
    package var json: String {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("file", file)
        writer.member("kind", kind)
        writer.member("devices", array: devices) { $1.write(to: &$0) }
        writer.endObject()
        return String(decoding: writer.bytes, as: UTF8.self) + "\n"
    }
}

extension SourceReport.Device {
    /// What it has and what is skipped, as lines.
    fileprivate var lines: [String] {
        let width = records.map { $0.metric.rawValue.count }.max() ?? 0
        let counts = records.map { "\($0.count)".count }.max() ?? 0
        let found = records.map { record in
            let name = record.metric.rawValue + String(repeating: " ", count: width - record.metric.rawValue.count)
            let count = String(repeating: " ", count: counts - "\(record.count)".count) + "\(record.count)"
            return "\(name)  \(count)  \(record.first.minuteText) to \(record.last.minuteText)  "
                + record.places.joined(separator: ", ")
        }
        let skipped = omissions.map { omission in
            "skipped: \(omission.place)\(omission.count.map { ", \($0) rows" } ?? ""): \(omission.reason)"
        }
        var lines: [String] = family.map { ["family: \($0)"] } ?? []
        lines += found.isEmpty ? ["no records"] : found
        return lines + skipped + notes
    }

    /// An id of its name: small letters and digits, with `-` for the rest.
    fileprivate var suggestedID: String {
        let words = name.lowercased().split { !(("a"..."z").contains($0) || ("0"..."9").contains($0)) }
        let text = String(words.joined(separator: "-").prefix(40))
        return DeviceID(text)?.text ?? "device"
    }

    fileprivate func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("name", name)
        writer.member("family", family)
        writer.member("driver", driver)
        writer.key("options")
        writer.beginObject()
        for option in options {
            writer.key(escaping: option.key)
            writer.string(option.value)
        }
        writer.endObject()
        writer.member("records", array: records) { writer, record in
            writer.beginObject()
            writer.member("metric", record.metric.rawValue)
            writer.member("count", record.count)
            writer.member("first", record.first.description)
            writer.member("last", record.last.description)
            writer.member("places", array: record.places) { $0.string($1) }
            writer.endObject()
        }
        writer.member("skipped", array: omissions) { writer, omission in
            writer.beginObject()
            writer.member("place", omission.place)
            writer.member("rows", omission.count)
            writer.member("reason", omission.reason)
            writer.endObject()
        }
        writer.member("notes", array: notes) { $0.string($1) }
        writer.member("remark", remark)
        writer.endObject()
    }
}

extension Timestamp {
    /// To the minute, in UTC: `2026-03-28 07:00Z`.
    fileprivate var minuteText: String {
        let text = description
        return "\(text.prefix(10)) \(text.dropFirst(11).prefix(5))Z"
    }
}

extension String {
    /// The text in quotes, as YAML and JSON have it.
    fileprivate var quoted: String {
        var writer = JSONWriter()
        writer.string(self)
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}
