import Foundation
import Gateway
import GatewayKit
import Glibc
import Testing

/// The folder of `devices_from`, as a configuration is read with it.
@Suite struct DeviceFolderTests {
    private static let toy = "id: toy\ndriver: toy\n"

    @Test func `devices of a folder follow those of the configuration file, in the order of their files`() throws {
        let files = [
            "b.yaml": Self.toy, "a.yaml": "- {id: one, driver: toy}\n- {id: two, driver: toy}\n",
            ".hidden.yaml": "id: [", "notes.txt": "id: [",
        ]
        try DevicePlace.with(files) { place in
            let devices = try place.devices()
            #expect(devices == ["own", "one", "two", "toy"])
            #expect(try place.warnings() == [])
        }
    }

    @Test func `a device that moves into the folder is the same one, so it is not connected again`() throws {
        let ring = "driver: ring\ntransport: {type: radio, channel: 2}\nname: Ring\n"
        let one = try DevicePlace.with(["r.yaml": "id: r\n" + ring]) { place in
            try #require(try place.loader.load(place.path).devices.last)
        }
        let other = try DevicePlace.with([:], DevicePlace.text + "  - {id: r, \(Self.flow(ring))}\n") { place in
            try #require(try place.loader.load(place.path).devices.last)
        }
        #expect(one.fingerprint == other.fingerprint)
        #expect(one.file?.hasSuffix("/devices.d/r.yaml") == true && other.file == nil)
    }

    private static func flow(_ block: String) -> String {
        block.split(separator: "\n").joined(separator: ", ")
    }

    @Test(
        arguments: [
            (["a.yaml": "id: own\ndriver: toy\n"], "F/a.yaml:1: id: C:4 has the id own already."),
            (
                ["a.yaml": toy, "b.yaml": "# a\nid: toy\ndriver: toy\n"],
                "F/b.yaml:2: id: F/a.yaml:1 has the id toy already."
            ),
            (
                ["a.yaml": "- {id: a, driver: toy}\n- {id: a, driver: toy}\n"],
                "F/a.yaml:2: [1].id: Line 1 has the id a already."
            ),
        ] as [([String: String], String)])
    func `two devices of one id are told with both files and lines`(files: [String: String], issue: String) throws {
        try DevicePlace.with(files) { place in
            #expect(place.issues() == [issue + " Give each device its own."])
        }
    }

    @Test func `no two devices share an address, wherever they are written`() throws {
        let ring = "driver: ring\ntransport: {type: radio, address: aa}\n"
        try DevicePlace.with(["a.yaml": "id: a\n" + ring, "b.yaml": "id: b\n" + ring]) { place in
            let issue = "F/b.yaml:3: transport: The address AA is that of a already. Give each device its own."
            #expect(place.issues() == [issue])
        }
    }

    @Test(
        arguments: [
            ("id: A/b\ndriver: toy\n", "1: id: An id has 1 to 64 of a-z, 0-9, _ and -, such as ring-1."),
            ("id: r\ndriver: ring\ntransport:\n  type: radio\n  channel: 10\n", "5: transport.channel: A whole number"),
            ("- {id: r, driver: toy}\n- {id: s, driver: ring}\n", "2: [1].driver: The driver ring needs a transport"),
            (
                "id: r\ndriver: ring\nsize: 3\ntransport: {type: radio}\n",
                "3: size: There is no such key. It belongs under options."
            ),
            ("transport:\n\ttype: radio\n", "2: YAML is indented by spaces"),
            ("devices: [{id: r, driver: toy}]\n", "1: The file is a device itself, or a list of them"),
            ("- 1\n", "1: [0]: Keys and values are expected here."),
        ])
    func `an error has its file and line, and its path in the file`(text: String, issue: String) throws {
        try DevicePlace.with(["a.yaml": text]) { place in
            let issues = place.issues()
            #expect(issues.first?.hasPrefix("F/a.yaml:\(issue)") == true, "\(issues)")
        }
    }

    @Test func `errors of the configuration file come first, then those of each file by line`() throws {
        let files = ["b.yaml": "id: b\ndriver: none\n", "a.yaml": "id: a\ndriver: none\nperson: []\n"]
        try DevicePlace.with(files, DevicePlace.text + "log: {level: loud}\n") { place in
            #expect(
                place.issues().map { $0.prefix { $0 != " " } } == ["C:5:", "F/a.yaml:2:", "F/a.yaml:3:", "F/b.yaml:2:"])
        }
    }

    @Test func `what is no readable file has a message of its own`() throws {
        try DevicePlace.with { place in
            let (folder, files) = (place.folder, FileManager.default)
            try files.createDirectory(atPath: "\(folder)/a.yaml", withIntermediateDirectories: false)
            try #require(mkfifo("\(folder)/b.yaml", 0o600) == 0)
            try files.createSymbolicLink(atPath: "\(folder)/c.yaml", withDestinationPath: "nowhere")
            try Data([0x69, 0x64, 0x3A, 0x0A, 0xFF]).write(to: URL(filePath: "\(folder)/d.yaml"))
            #expect(
                place.issues() == [
                    "F/a.yaml: F/a.yaml is no file. Remove it, or name another one.",
                    "F/b.yaml: F/b.yaml is no file. Remove it, or name another one.",
                    "F/c.yaml: The file is a link that leads nowhere. Remove it.",
                    "F/d.yaml:2: The file is not UTF-8 text (line 2).",
                ])
        }
    }

    @Test func `a link to a file is followed, and an empty file or one of another name is told`() throws {
        try DevicePlace.with(["b.yaml": "# later\n", "c.yml": Self.toy]) { place in
            try write(Self.toy, to: "elsewhere", in: URL(filePath: place.folder).deletingLastPathComponent().path)
            try FileManager.default.createSymbolicLink(
                atPath: "\(place.folder)/a.yaml", withDestinationPath: "../elsewhere")
            #expect(try place.devices() == ["own", "toy"])
            #expect(
                try place.warnings() == [
                    "F/c.yml: The file is not read, since its name does not end with .yaml.",
                    "F/b.yaml: The file has no device.",
                ])
        }
    }

    @Test func `a folder that is missing, or is none, loses no device silently`() throws {
        try DevicePlace.with { place in
            try FileManager.default.removeItem(atPath: place.folder)
            #expect(place.issues() == ["C:2: devices_from: The folder F does not exist. Create it: mkdir F"])
            try write("", to: "devices.d", in: URL(filePath: place.path).deletingLastPathComponent().path)
            #expect(place.issues() == ["C:2: devices_from: F is no folder. Name one."])
        }
        #expect(
            issues("mqtt: {url: mqtt://h}\ndevices_from: [a]\n").contains("2: devices_from: A text is needed here."))
    }

    @Test func `takes a thousand files, and says what to do with one more`() throws {
        let files = (0..<1000).map { ("d\($0).yaml", "id: d\($0)\ndriver: toy\n") }
        try DevicePlace.with(Dictionary(uniqueKeysWithValues: files)) { place in
            #expect(try place.devices().count == 1001)
            try write("id: e\ndriver: toy\n", to: "e.yaml", in: place.folder)
            let issue =
                "C:2: devices_from: F has 1001 files, and at most 1000 are read. Remove some, or write their devices as a list "
                + "into one file."
            #expect(place.issues() == [issue])
            unlink("\(place.folder)/e.yaml")
            // A script gets the same from the command.
            let device = NewDevice(id: "e", name: "E", driver: "toy", transport: [])
            let files = DeviceFiles(of: place.path, loader: place.loader)
            #expect(place.failure { _ = try files.write(device) } == String(issue.dropFirst(2)))
        }
    }

    @Test
    func `takes as many bytes as the configuration file may have, and values, in all files of the folder together`()
        throws
    {
        try DevicePlace.with(["a.yaml": Self.toy]) { place in
            let room = ConfigurationLimits.fileSize - Self.toy.utf8.count
            let rest = "# " + String(repeating: "x", count: room - 2)
            try write(rest, to: "b.yaml", in: place.folder)
            #expect(try place.devices() == ["own", "toy"])
            try write(rest + "x", to: "b.yaml", in: place.folder)
            #expect(place.issues() == ["C:2: devices_from: The files of F have more than 4194304 bytes together."])
            let values = "[" + String(repeating: "1,", count: ConfigurationLimits.values - 6) + "1]\n"
            try write("id: b\ndriver: toy\nperson: \(values)", to: "b.yaml", in: place.folder)
            #expect(place.issues().contains("C:2: devices_from: The files of F have more than 500000 values together."))
        }
    }

    @Test func `warns once of a folder, and of a file in it, that everybody may change`() throws {
        let two = "- {id: a, driver: toy}\n- {id: b, driver: ring, transport: {type: radio}}\n"
        try DevicePlace.with(["a.yaml": two]) { place in
            func warnings() throws -> [String] {
                try place.loader.load(place.path).checkFileModes(of: place.path).map {
                    place.short($0.text(file: place.path))
                }
                .filter { !$0.contains("store.path") }
            }
            #expect(try warnings() == [])
            try #require(chmod(place.folder, 0o777) == 0 && chmod("\(place.folder)/a.yaml", 0o666) == 0)
            #expect(
                try warnings() == [
                    "C:2: devices_from: Every user of this machine may put devices into F, and with them programs that the gateway "
                        + "starts. Run: chmod o-w F",
                    "F/a.yaml: Every user of this machine may change F/a.yaml, and with it the programs that the gateway starts. "
                        + "Run: chmod o-w F/a.yaml",
                ])
        }
    }
}
