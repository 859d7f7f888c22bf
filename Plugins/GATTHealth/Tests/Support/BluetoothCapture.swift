import Foundation
import Vitals

/// A capture of a Bluetooth host in the format btsnoop: connections to devices, the discovery of their services, and the values that they
/// send. tshark knows from the discovery which format a value has.
struct BluetoothCapture {
    private var bytes = Array("btsnoop\0".utf8) + big(1, 4) + big(1002, 4)  // version 1, HCI UART
    private var packets = 0

    /// Adds a connection to a device with one service, which sends these values of its characteristic.
    mutating func add(service: UInt16, characteristic: UInt16, values: [[UInt8]]) {
        // LE Connection Complete: handle 1, as central, a public address.
        append(
            [0x04, 0x3e, 0x13, 0x01, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0xf0] + [24, 0, 0, 0, 42, 0, 0], isReceived: true)
        attribute([0x10, 1, 0, 0xff, 0xff, 0x00, 0x28], isReceived: false)  // Read By Group Type: the services
        attribute([0x11, 6, 1, 0, 0xff, 0xff] + little(service), isReceived: true)
        attribute([0x08, 1, 0, 0xff, 0xff, 0x03, 0x28], isReceived: false)  // Read By Type: the characteristics
        attribute([0x09, 7, 2, 0, 0x3a, 3, 0] + little(characteristic), isReceived: true)
        for value in values { attribute([0x1b, 3, 0] + value, isReceived: true) }  // Handle Value Notification
    }

    /// What tshark says about each value: the texts of these fields, in the order of their appearance.
    func fields(_ names: [String]) throws -> [[String: [String]]] {
        let folder = FileManager.default.temporaryDirectory.appending(path: "capture-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "capture.btsnoop")
        try Data(bytes).write(to: file)
        let output = Pipe()
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments =
            ["tshark", "-n", "-r", file.path(), "-Y", "btatt.opcode==0x1b", "-T", "fields", "-E", "separator=|"]
            + ["-E", "occurrence=a", "-E", "aggregator=;"] + names.flatMap { ["-e", "btatt.\($0)"] }
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Failure.tshark("install the package tshark") }
        return text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map { line in
            let cells = line.split(separator: "|", omittingEmptySubsequences: false)
            return Dictionary(
                uniqueKeysWithValues: zip(names, cells.map { $0.split(separator: ";").map(String.init) }))
        }
    }

    enum Failure: Error { case tshark(String) }

    /// An attribute of the Attribute Protocol, in a frame of the channel 4 of L2CAP.
    private mutating func attribute(_ content: [UInt8], isReceived: Bool) {
        let frame = little(UInt16(content.count)) + [4, 0] + content
        append(
            [0x02] + little(isReceived ? 0x2001 : 0x0001) + little(UInt16(frame.count)) + frame, isReceived: isReceived)
    }

    private mutating func append(_ packet: [UInt8], isReceived: Bool) {
        let flags = (isReceived ? 1 : 0) | (packet[0] == 0x04 ? 2 : 0)
        packets += 1
        // Microseconds since the year 0, as the format counts them; here in 2026.
        let time = 0x00E0_3AB4_4A67_6000 + 800_000_000_000_000 + packets * 1000
        bytes += big(packet.count, 4) + big(packet.count, 4) + big(flags, 4) + big(0, 4) + big(time, 8) + packet
    }
}

private func big(_ number: Int, _ count: Int) -> [UInt8] {
    (0..<count).reversed().map { UInt8(number >> ($0 * 8) & 0xff) }
}

private func little(_ number: UInt16) -> [UInt8] { [UInt8(number & 0xff), UInt8(number >> 8)] }

extension [String: [String]] {
    /// The number of a field that a packet has once at most; hexadecimal with `0x`.
    func number(_ name: String) -> Int? {
        guard let text = self["\(name)"]?.first else { return nil }
        return text.hasPrefix("0x") ? Int(text.dropFirst(2), radix: 16) : Int(text)
    }
}
