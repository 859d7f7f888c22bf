import GatewayKit
import GatewayTesting
import Synchronization
import TestSupport
import Testing
import Vitals

@testable import O2Ring

/// Files that a ring lists and does not open.
@Suite struct RefusalTests {
    private static let start = Timestamp(seconds: 1_773_129_600)
    private static let monday = O2Recording(start: [2026, 3, 9, 23, 0, 0], count: 100)
    private static let tuesday = O2Recording(start: [2026, 3, 10, 1, 0, 0], count: 50)

    /// Runs `body` with a ring that does not open the older one of two files so many times, and a way to open sessions with it.
    private func withRing(
        refusals: Int, _ refusal: [UInt8]? = nil,
        _ body: @escaping @Sendable (ScriptedO2Ring, SessionContext) async throws -> Void
    ) throws {
        try Simulation.run(seed: 1, start: Self.start, deadline: .days(3)) { simulation in
            let clock = simulation.gatewayClock
            let files = [Self.monday, Self.tuesday].map { ($0.name, $0.content) }
            let ring = ScriptedO2Ring(clock: clock, files: Dictionary(uniqueKeysWithValues: files))
            ring.withState { ($0.refusals, $0.refusal) = ([Self.monday.name: refusals], refusal) }
            try await body(ring, SessionContext.testing(try #require(DeviceID("ring")), clock: clock))
        }
    }

    /// What all pages of the last days had.
    private struct Pages: Hashable {
        var samples = 0
        var malformed = 0
    }

    private func connect(
        _ ring: ScriptedO2Ring, _ context: SessionContext,
        _ body: @escaping @Sendable (any DeviceSession) async throws -> Void
    ) async throws {
        ring.connect(radio: .none, random: SplitMix64(seed: 1))
        try await O2Driver(O2Options(liveEvery: .zero)).withSession(
            over: .gatt(ring.peripheral.link), context: context, body)
    }

    private static func history(_ session: any DeviceSession) async throws -> Pages {
        var request = HistoryRequest(metric: .heartRate, from: start - .days(2), to: start)
        var pages = Pages()
        while true {
            let page = try await session.history(request)
            pages.samples += page.samples.count
            pages.malformed += page.malformed
            guard let next = page.next else { return pages }
            request.page = next
        }
    }

    /// A refusal, and answers that have no size, or an impossible one.
    @Test(arguments: [nil, [], [1], [0xff, 0xff, 0xff, 0]] as [[UInt8]?])
    func `a file that is refused once is read the next time`(refusal: [UInt8]?) throws {
        try withRing(refusals: 1, refusal) { ring, context in
            try await connect(ring, context) { session in
                await #expect { try await Self.history(session) } throws: { ($0 as? DeviceError)?.code == .failure }
                let pages = try await Self.history(session)
                #expect(pages == Pages(samples: 98 + 49))
            }
            #expect(try await context.notes.all().isEmpty)
        }
    }

    @Test func `a file that is refused for a day is counted, and the later ones are read`() throws {
        try withRing(refusals: .max) { ring, context in
            for _ in 0..<3 {
                try await connect(ring, context) { session in
                    await #expect { try await Self.history(session) } throws: { ($0 as? DeviceError)?.code == .failure }
                }
                try await context.clock.sleep(for: RefusedFiles.timeout / 3 - .minutes(1))
            }
            try await context.clock.sleep(for: .minutes(3))
            try await connect(ring, context) { session in
                let pages = try await Self.history(session)
                #expect(pages == Pages(samples: 49, malformed: 1))
            }
            // It is deleted: nothing is known of it any more.
            ring.withState { $0.files[Self.monday.name] = nil }
            try await connect(ring, context) { session in
                let pages = try await Self.history(session)
                #expect(pages == Pages(samples: 49))
            }
            #expect(try await context.notes.all().isEmpty)
        }
    }
}
