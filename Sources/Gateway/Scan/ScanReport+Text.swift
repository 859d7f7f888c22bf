import Contract
import JSON
package import Vitals

extension ScanReport {
    /// For a terminal: a line for each device.
    /// - Parameter isWhole: also those that have neither a name nor a driver.
    package func text(isWhole: Bool) -> String {
        let listed = isWhole ? devices : devices.filter { $0.name != nil || !$0.claims.isEmpty || $0.device != nil }
        let hidden = devices.count - listed.count
        var rows = listed.map(\.cells)
        if !rows.isEmpty { rows.insert(["SIGNAL", "ADDRESS", "NAME", "DRIVER", ""], at: 0) }
        let widths = (0..<4).map { column in rows.map { $0[column].count }.max() ?? 0 }
        var text = rows.map { row in
            let line = zip(row, widths + [0]).map { $0.padded(to: $1) }.joined(separator: "  ")
            return String(line.reversed().drop { $0 == " " }.reversed()) + "\n"
        }.joined()
        if devices.isEmpty { text += "Nothing is in reach.\n" }
        if hidden > 0 { text += "\(hidden) more without a name and a driver; --all lists them.\n" }
        if skipped > 0 { text += "\(skipped) more with a weaker signal are skipped.\n" }
        let notes = listed.compactMap { device in device.note.map { "\(device.address): \($0)\n" } }
        return text + notes.joined()
    }

    /// For a program, as one line: the `data` of the command's answer.
    package var json: String {
        var writer = JSONWriter()
        writer.beginObject()
        writer.members(of: self)
        writer.endObject()
        return String(decoding: writer.bytes, as: UTF8.self) + "\n"
    }
}

extension ScanReport.Device {
    fileprivate var cells: [String] {
        let drivers = claims.map { "\($0.driver) (by its \($0.mark.rawValue))" }.joined(separator: ", ")
        let state = device.map { "is \($0)" } ?? (isConnected ? "is connected" : "")
        return [
            signalStrength.map { "\($0) dBm" } ?? "-", address, name?.printable ?? "-", drivers.isEmpty ? "-" : drivers,
            state,
        ]
    }
}

extension String {
    /// The text without what moves a terminal's cursor: a stranger chose it.
    package var printable: String {
        String(
            String.UnicodeScalarView(
                unicodeScalars.map { scalar in
                    switch scalar.properties.generalCategory {
                    case .control, .format, .lineSeparator, .paragraphSeparator: "\u{FFFD}"
                    default: scalar
                    }
                }))
    }

    fileprivate func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
}
