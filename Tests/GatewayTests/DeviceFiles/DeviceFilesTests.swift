import Foundation
import GatewayKit
import Glibc
import Synchronization
import Testing
import Vitals

@testable import Gateway

/// What the program writes into the folder of `devices_from`, and what it leaves as it is.
@Suite struct DeviceFilesTests {
    private static func toy(_ id: String, _ name: String = "Toy") -> NewDevice {
        NewDevice(id: id, name: name, driver: "toy", transport: [])
    }

    private static func files(_ place: DevicePlace) -> DeviceFiles { DeviceFiles(of: place.path, loader: place.loader) }

    @Test func `writes a device whole, for those who may read the folder`() throws {
        try DevicePlace.with { place in
            try #require(chmod(place.folder, 0o750) == 0)
            let written = try Self.files(place).write(Self.toy("band", "Anna's band"))
            #expect(written == .init(path: "\(place.folder)/band.yaml", warnings: []))
            let text = try place.text(of: "band.yaml")
            #expect(text.hasPrefix("# Made by vitals2mqtt (checksum "))
            #expect(text.hasSuffix(" then it is yours.\nid: band\nname: \"Anna's band\"\ndriver: toy\n"))
            #expect(FileMode(of: written.path)?.bits == 0o640)
            #expect(try place.names() == [".lock", "band.yaml"])
            #expect(try place.devices() == ["own", "band"])
        }
    }

    @Test func `replaces what it made, only if it is asked to`() throws {
        try DevicePlace.with { place in
            let files = Self.files(place)
            _ = try files.write(Self.toy("band", "Old"))
            let refusal = place.failure { _ = try files.write(Self.toy("band", "New")) }
            #expect(refusal == "F/band.yaml is there already. Use --replace, or remove it with the command remove.")
            #expect(try place.text(of: "band.yaml").contains("name: Old\n"))
            _ = try files.write(Self.toy("band", "New"), replacing: true)
            #expect(try place.text(of: "band.yaml").contains("name: New\n"))
            #expect(try place.devices() == ["own", "band"])
        }
    }

    @Test func `a device that the whole configuration would not take is not written`() throws {
        try DevicePlace.with { place in
            let files = Self.files(place)
            let taken = place.failure { _ = try files.write(Self.toy("own")) }
            #expect(taken == "F/own.yaml:2: id: C:4 has the id own already. Give each device its own.")
            let wrong = NewDevice(
                id: "r", name: "R", driver: "ring", transport: [.init("type", "radio"), .init("channel", "10")])
            let range = place.failure { _ = try files.write(wrong) }
            #expect(range.hasPrefix("F/r.yaml:7: transport.channel: A whole number from 1 to 9"), "\(range)")
            #expect(try place.names() == [".lock"])
            // Not with an error elsewhere either: a running gateway could not apply it.
            try write(DevicePlace.text + "log: {level: loud}\n", to: "c.yaml", in: "\(place.folder)/..")
            let elsewhere = place.failure { _ = try files.write(Self.toy("band")) }
            #expect(elsewhere.hasPrefix("5: log.level: "), "\(elsewhere)")
            #expect(try place.names() == [".lock"])
        }
    }

    @Test func `a file that a hand changed is left as it is, and both are shown`() throws {
        try DevicePlace.with { place in
            let files = Self.files(place)
            _ = try files.write(Self.toy("band", "Old"))
            let changed =
                try place.text(of: "band.yaml").replacing("name: Old", with: "name: Mine")
                + (0..<50).map { "# \($0)\u{200B}\n" }.joined()
            try write(changed, to: "band.yaml", in: place.folder)
            let refusal = place.failure { _ = try files.write(Self.toy("band", "New"), replacing: true) }
            #expect(refusal.hasPrefix("F/band.yaml was changed or renamed by hand since the program made it"))
            #expect(refusal.contains("It has:\n  # Made by"))
            #expect(refusal.contains("  name: Mine\n") && refusal.contains("  # 35\u{FFFD}\n  and 15 more lines\n"))
            #expect(refusal.contains("The program would write:\n  # Made by") && refusal.contains("  name: New\n"))
            let kept = place.failure { _ = try files.remove("band") }
            #expect(kept.contains("  name: Mine\n") && !kept.contains("would write"))
            #expect(try place.text(of: "band.yaml") == changed)
            // It is read all the same.
            #expect(try place.loader.load(place.path).devices.last?.info.name == "Mine")
        }
    }

    @Test func `a file under another name counts as changed`() throws {
        try DevicePlace.with { place in
            let files = Self.files(place)
            _ = try files.write(Self.toy("band"))
            try #require(rename("\(place.folder)/band.yaml", "\(place.folder)/ring.yaml") == 0)
            let ring = place.failure { _ = try files.remove("ring") }
            #expect(ring.hasPrefix("F/ring.yaml was changed or renamed by hand"))
            let band = place.failure { _ = try files.remove("band") }
            #expect(band == "band was written by hand, in F/ring.yaml:2. Remove it there.")
        }
    }

    @Test func `what a hand made is left as it is: a file, a link, a folder`() throws {
        try DevicePlace.with(["a.yaml": "id: x\ndriver: toy\n"]) { place in
            let files = Self.files(place)
            let target = try write("id: y\ndriver: toy\n", to: "elsewhere", in: "\(place.folder)/..")
            try FileManager.default.createSymbolicLink(atPath: "\(place.folder)/b.yaml", withDestinationPath: target)
            for (id, text) in [("a", "F/a.yaml was made by hand"), ("b", "F/b.yaml is a link or no file")] {
                let written = place.failure { _ = try files.write(Self.toy(id), replacing: true) }
                #expect(written.hasPrefix(text), "\(written)")
                let removed = place.failure { _ = try files.remove(id) }
                #expect(removed.hasPrefix(text), "\(removed)")
            }
            #expect(try place.names() == [".lock", "a.yaml", "b.yaml"])
            #expect(try String(contentsOfFile: target, encoding: .utf8) == "id: y\ndriver: toy\n")
            try FileManager.default.createDirectory(
                atPath: "\(place.folder)/c.yaml", withIntermediateDirectories: false)
            let folder = place.failure { _ = try files.remove("c") }
            #expect(folder.hasPrefix("F/c.yaml is a link or no file"))
        }
    }

    @Test func `a second writer is refused while the first one writes`() throws {
        try DevicePlace.with { place in
            let second = Self.files(place)
            let refusals = Mutex<[String]>([])
            let first = DeviceFiles(of: place.path, loader: place.loader) { number, bytes, count in
                let written = place.failure { _ = try second.write(Self.toy("b")) }
                let removed = place.failure { _ = try second.remove("b") }
                refusals.withLock { $0 += [written, removed] }
                return Glibc.write(number, bytes, count)
            }
            _ = try first.write(Self.toy("a"))
            let refusal = "Another program changes the files in F now. Try again."
            #expect(refusals.withLock { $0 } == [refusal, refusal])
            _ = try second.write(Self.toy("b"))
            #expect(try place.devices() == ["own", "a", "b"])
        }
    }

    @Test func `a full disk changes nothing`() throws {
        let full = open("/dev/full", O_WRONLY | O_CLOEXEC)
        try #require(full >= 0)
        defer { close(full) }
        try DevicePlace.with { place in
            _ = try Self.files(place).write(Self.toy("a", "Old"))
            let (before, mark) = (try place.text(of: "a.yaml"), DeviceFolderMark(of: place.folder))
            let files = DeviceFiles(of: place.path, loader: place.loader) { Glibc.write(full, $1, $2) }
            for (id, isOld) in [("a", true), ("b", false)] {
                let text = place.failure { _ = try files.write(Self.toy(id), replacing: isOld) }
                let reason = "cannot be written: No space left on device. Make room on the disk, and try again."
                #expect(text == "F/\(id).yaml \(reason)")
            }
            #expect(try place.names() == [".lock", "a.yaml"])
            #expect(try place.text(of: "a.yaml") == before)
            #expect(DeviceFolderMark(of: place.folder) == mark)
        }
    }

    @Test func `what a crash left unfinished is no device, and is not in the way`() throws {
        try DevicePlace.with([".new": "id: ["]) { place in
            #expect(try place.devices() == ["own"])
            _ = try Self.files(place).write(Self.toy("a"))
            #expect(try place.names() == [".lock", "a.yaml"])
        }
    }

    @Test(arguments: [
        "../c", "/etc/passwd", "a/b", ".", "", "a.yaml", "A", "gateway", "a\u{0}b", String(repeating: "a", count: 65),
    ])
    func `an id that is a path, or anything else that is no id, is refused`(id: String) throws {
        try DevicePlace.with { place in
            let before = try String(contentsOfFile: place.path, encoding: .utf8)
            let files = Self.files(place)
            for text in [
                place.failure { _ = try files.write(Self.toy(id), replacing: true) },
                place.failure { _ = try files.remove(id) },
            ] {
                #expect(text.hasSuffix(" is no id: 1 to 64 of a-z, 0-9, _ and -, and not gateway."), "\(text)")
            }
            #expect(try place.names() == [])
            #expect(try String(contentsOfFile: place.path, encoding: .utf8) == before)
        }
    }

    @Test func `removes what it made, and says where another device is`() throws {
        try DevicePlace.with { place in
            let files = Self.files(place)
            _ = try files.write(Self.toy("band"))
            let own = place.failure { _ = try files.remove("own") }
            #expect(own == "own was written by hand, in C:4. Remove it there.")
            let wrong = place.failure { _ = try files.remove("bend") }
            #expect(wrong == "There is no file F/bend.yaml. Did you mean band?")
            #expect(try files.remove("band") == "\(place.folder)/band.yaml")
            #expect(try place.devices() == ["own"])
            _ = try files.write(Self.toy("band"))
            // Errors elsewhere are no reason to keep a device.
            try write("devices_from: devices.d\nlog: {level: loud}\n", to: "c.yaml", in: "\(place.folder)/..")
            #expect(try files.remove("band") == "\(place.folder)/band.yaml")
        }
    }

    @Test func `after a removal it says what keeps a gateway from applying it`() throws {
        try DevicePlace.with { place in
            let files = Self.files(place)
            _ = try files.write(Self.toy("band"))
            #expect(files.obstacle() == nil)
            try write("id: sim\ndriver: toy\nname: [\n", to: "sim.yaml", in: place.folder)
            _ = try files.remove("band")
            let obstacle = files.obstacle().map { place.short($0.text(file: place.path)) }
            #expect(obstacle?.hasPrefix("F/sim.yaml") == true, "\(obstacle ?? "")")
        }
    }

    @Test func `without a folder it says what to do`() throws {
        try DevicePlace.with([:], "mqtt: {url: mqtt://127.0.0.1}\n") { place in
            let files = Self.files(place)
            let none = place.failure { _ = try files.write(Self.toy("a")) }
            #expect(none.hasSuffix("Make a folder beside it, and add the line: devices_from: devices.d"), "\(none)")
            try write(DevicePlace.text, to: "c.yaml", in: "\(place.folder)/..")
            try FileManager.default.removeItem(atPath: place.folder)
            let missing = place.failure { _ = try files.remove("a") }
            #expect(missing == "The folder F does not exist. Create it: mkdir F")
        }
    }

    @Test func `a change of the program shows once, and one of a hand does not`() throws {
        try DevicePlace.with { place in
            let files = Self.files(place)
            let watch = DeviceFolderWatch()
            #expect(!watch.hasChanged())
            watch.follow(try place.loader.load(place.path).deviceFolder)
            #expect(!watch.hasChanged())
            _ = try files.write(Self.toy("a"))
            #expect(watch.hasChanged())
            #expect(!watch.hasChanged())
            try write("id: [", to: "hand.yaml", in: place.folder)
            #expect(!watch.hasChanged())
            _ = try files.remove("a")
            #expect(watch.hasChanged())
            // What was changed after the folder was read shows, too.
            unlink("\(place.folder)/hand.yaml")
            let read = try place.loader.load(place.path).deviceFolder
            _ = try files.write(Self.toy("a"))
            watch.follow(read)
            #expect(watch.hasChanged())
            watch.follow(nil)
            #expect(!watch.hasChanged())
        }
    }
}

/// Root writes into a folder of the user whose gateway reads it, who may put anything there.
@Suite(.enabled(if: geteuid() == 0, "only root has other users' rights"))
struct ForeignDeviceFilesTests {
    private static let user: uid_t = 65_534
    private static let device = NewDevice(id: "a", name: "A", driver: "toy", transport: [])

    private static func owner(_ path: String) -> uid_t? {
        var status = stat()
        return lstat(path, &status) == 0 ? status.st_uid : nil
    }

    @Test func `what root writes is the user's`() throws {
        try DevicePlace.with { place in
            try #require(chown(place.folder, Self.user, Self.user) == 0)
            let files = DeviceFiles(of: place.path, loader: place.loader)
            let path = try files.write(Self.device).path
            #expect(Self.owner(path) == Self.user && Self.owner("\(place.folder)/.lock") == Self.user)
            #expect(try files.remove("a") == path)
            #expect(try place.names() == [".lock"])
        }
    }

    @Test func `root follows no link of the user's, and leaves what it leads to`() throws {
        try DevicePlace.with { place in
            try #require(chown(place.folder, Self.user, Self.user) == 0)
            let target = try write("id: secret\n", to: "target", in: "\(place.folder)/..")
            let files = DeviceFiles(of: place.path, loader: place.loader)
            for (name, text) in [
                ("b.yaml", "is a link, and root follows only links of root's own"),
                (".lock", "F/.lock is no file. Remove it."),
                ("a.yaml", "is a link"), (".new", "no failure"),
            ] {
                unlink("\(place.folder)/.lock")
                let link = "\(place.folder)/\(name)"
                try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: target)
                try #require(lchown(link, Self.user, Self.user) == 0)
                let refusal = place.failure { _ = try files.write(Self.device) }
                #expect(refusal.contains(text), "\(name): \(refusal)")
                unlink(link)
            }
            #expect(try String(contentsOfFile: target, encoding: .utf8) == "id: secret\n")
            #expect(Self.owner(target) == 0)
        }
    }
}
