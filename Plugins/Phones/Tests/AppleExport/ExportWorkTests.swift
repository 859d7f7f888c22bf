import Foundation
import GatewayKit
import GatewayTesting
import Synchronization
import Testing
import Vitals

@testable import Phones

/// An export of a phone that posts, too: its session begins with the file.
@Suite struct ExportWorkTests {
    @Test func `an export that stands still begins a session, and one that was taken does not`() throws {
        let folder = try Folder()
        let notes = DeviceNotes()
        let began = Mutex<[Timestamp]>([])
        nonisolated(unsafe) let files = folder
        try Simulation.run(seed: 1, start: Phone.at("2026-06-20T00:00:00Z"), deadline: .days(1)) { simulation in
            let clock = simulation.gatewayClock
            var made = try Phone.context(clock: clock)
            made.notes = notes
            let context = made
            let driver = PhoneDriver<HealthAutoExport>(export: files.url.path)
            #expect(driver.mayHaveWork && !PhoneDriver<HealthConnectWebhook>().mayHaveWork)
            let documents = DocumentQueue()
            // A session as a transport begins it.
            let session = { @Sendable () async throws -> Void in
                try await documents.withSession(
                    clock: clock, work: { await driver.waitForWork(context: context) }
                ) { link in
                    began.withLock { $0.append(clock.now) }
                    try await driver.withSession(over: .documents(link), context: context) { session in
                        while let events = try await session.nextEvents() {
                            for case .samples(_, let receipts) in events {
                                try await session.settle(receipts.map { SettledReceipt($0, .new) })
                            }
                        }
                    }
                }
            }
            // Nothing is there.
            _ = await clock.withTimeout(.minutes(10)) { try? await session() }
            #expect(began.withLock { $0.isEmpty })
            let xml = HealthFile.xml([HealthFile.record("BodyMass", "70", "10:00:00", unit: "kg")])
            try files.write(HealthFile.zip(xml), as: "export.zip")
            let before = clock.now
            _ = await clock.withTimeout(.minutes(10)) { try? await session() }
            #expect(began.withLock { $0.count } == 1)
            #expect(began.withLock { $0.allSatisfy { $0 - before < .minutes(2) } })
            // It was taken, which the notes say also after a restart.
            let next = PhoneDriver<HealthAutoExport>(export: files.url.path)
            _ = await clock.withTimeout(.minutes(10)) { await next.waitForWork(context: context) }
            #expect(clock.now - before >= .minutes(10))
            _ = await clock.withTimeout(.minutes(10)) { try? await session() }
            #expect(began.withLock { $0.count } == 1)
        }
    }
}
