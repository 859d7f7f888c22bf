import Foundation
import GatewayTesting
import TestSupport
import Testing
import Vitals

@testable import Phones

/// A folder that another program fills: Syncthing, Nextcloud, a network share.
@Suite struct FolderTests {
    private let phone: GadgetbridgePhone
    init() throws { phone = try GadgetbridgePhone() }

    /// Writes a file that is newer than every other one.
    private func write(_ name: String, newerBy seconds: Double = 1000) throws {
        let file = phone.folder.appending(path: name)
        try Data(contentsOf: phone.file).write(to: file)
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSinceNow: seconds)], ofItemAtPath: file.path)
    }

    private func newest() throws -> String {
        let path = try GadgetbridgeOptions(path: phone.folder.path).place.newest().path
        return URL(filePath: path).lastPathComponent
    }

    @Test(arguments: [
        ".syncthing.Gadgetbridge.db.tmp", "~syncthing~Gadgetbridge.db.tmp", ".Gadgetbridge.db.a1b2c3",
        "Gadgetbridge.sync-conflict-20260105-120000-ABCDEFG.db", "Gadgetbridge.sync-conflict-20260105-120000-ABCDEFG",
        "Gadgetbridge (conflicted copy 2026-01-05 120000).db", "~Gadgetbridge.db", "~$Gadgetbridge.db",
        "Gadgetbridge.db~", ".~lock.Gadgetbridge.db#", "Gadgetbridge.db.part", "Gadgetbridge.db.ocTransferId1.part",
        "Gadgetbridge.db-wal", "Gadgetbridge.db-journal", "Gadgetbridge.zip.tmp", "gadgetbridge.json", ".nfs0001.db",
    ])
    func `what is unfinished, or a copy in conflict, is no export, however new it is`(name: String) throws {
        try write(name)
        #expect(try newest() == "Gadgetbridge.db")
        try FileManager.default.removeItem(at: phone.file)
        let error = #expect(throws: ExportError.self) { _ = try newest() }
        #expect(error?.code == .missing)
    }

    @Test(arguments: ["Gadgetbridge", "Gadgetbridge.DB", "export-2026.zip", "Anna's band.sqlite"])
    func `every name that the app or a person gives is one`(name: String) throws {
        try write(name)
        #expect(try newest() == name)
    }

    @Test func `an export is found that is moved in while the folder itself was replaced`() throws {
        let folder = phone.folder
        try phone.table("GENERIC_STRESS_SAMPLE", "STRESS I!", [[GadgetbridgePhone.midnight * 1000, 30]])
        try Scenario.run(with: phone, path: folder.path) { [phone] scenario in
            try await scenario.pass(.seconds(80))
            #expect(scenario.kept.samples(.stress).count == 1)
            // As when a share is unmounted and mounted again.
            let aside = folder.deletingLastPathComponent().appending(path: "aside-\(folder.lastPathComponent)")
            try FileManager.default.moveItem(at: folder, to: aside)
            defer { try? FileManager.default.removeItem(at: aside) }
            try await scenario.pass(.minutes(3))
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
            try FileManager.default.copyItem(at: aside.appending(path: "Gadgetbridge.db"), to: phone.file)
            try phone.insert("GENERIC_STRESS_SAMPLE", [[(GadgetbridgePhone.midnight + 60) * 1000, 31]])
            try await scenario.pass(.seconds(80))
            #expect(scenario.kept.samples(.stress).count == 2)
            #expect(scenario.kept.corrected.isEmpty && scenario.endings.isEmpty)
        }
    }

    @Test func `an export that is gone for a moment, while the next one takes its place, is no problem`() throws {
        let log = LogRecorder()
        let folder = phone.folder
        try phone.table("GENERIC_STRESS_SAMPLE", "STRESS I!", [[GadgetbridgePhone.midnight * 1000, 30]])
        @Sendable func problems() -> [String] {
            log.entries.filter { $0.message == "The export cannot be read now." }.compactMap { $0.metadata["error"] }
        }
        try Scenario.run(with: phone, path: folder.path, log: log) { [phone] scenario in
            try await scenario.pass(.seconds(80))
            // As Syncthing does: the old file is taken away, and then the new one gets its name. The checks meet every moment.
            for round in 1...80 {
                try phone.insert(
                    "GENERIC_STRESS_SAMPLE", [[(GadgetbridgePhone.midnight + 60 * Int64(round)) * 1000, 31]])
                let whole = try Data(contentsOf: phone.file)
                try FileManager.default.removeItem(at: phone.file)
                try await scenario.pass(.seconds(4))
                try whole.write(to: phone.file)
                try await scenario.pass(.seconds(10))
            }
            try await scenario.pass(.seconds(80))
            #expect(scenario.kept.samples(.stress).count == 81 && problems() == [])
            try FileManager.default.removeItem(at: phone.file)
            try await scenario.pass(.minutes(10))
            #expect(problems().count == 1 && problems().first?.contains("has no export yet") == true)
            #expect(scenario.endings.isEmpty)
        }
    }
}
