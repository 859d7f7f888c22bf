import GatewayKit
import GatewayTesting
import Recordings
import TestSupport
import Testing
import Vitals

@testable import Replay

/// Bluetooth links that are played although the gateway does something else than it did.
@Suite struct TolerantPlaybackTests {
    private static let service = BluetoothUUID(0x180d)
    private static func characteristic(_ handle: UInt16) -> GATTCharacteristic {
        GATTCharacteristic(
            service: service, uuid: BluetoothUUID(0x2a30 + handle), handle: handle,
            properties: GATTProperties(rawValue: 0x1a))
    }

    /// A subscription, a write of a clock with its answer, a check of the battery after an hour, and values in between.
    private static func link() throws -> RecordedLink {
        let contents: [(Int, RecordedEvent.Content)] = [
            (0, .call(1, .subscribe(1))), (1, .answer(1, .done(RecordedBytes([])))),
            (2, .call(2, .write(2, RecordedBytes([1, 20, 26]), .withResponse))),
            (3, .answer(2, .done(RecordedBytes([])))), (4, .value(1, RecordedBytes([60]))),
            (3_600, .call(3, .read(3))), (3_601, .answer(3, .done(RecordedBytes([90])))),
            (3_602, .value(1, RecordedBytes([61]))), (3_603, .end(.byDevice)),
        ]
        let services = [GATTService(uuid: service, characteristics: (1...3).map { characteristic($0) })]
        return RecordedLink(
            number: 1, device: try #require(DeviceID("band-1")), driver: "any",
            kind: .gatt(services, maximumPayload: 20), opened: .zero,
            events: contents.enumerated().map { index, event in
                RecordedEvent(at: .seconds(event.0), line: index + 3, content: event.1)
            })
    }

    private func play(
        _ comparison: Comparison, _ speed: Speed,
        _ body: @escaping @Sendable (ReplayedGATTLink, Simulation) async throws -> Void
    ) throws {
        try Simulation.run(seed: 1, deadline: .hours(3)) { simulation in
            let playback = Playback(
                try Self.link(), path: "file", speed: speed, comparison: comparison, clock: simulation.gatewayClock)
            try await body(ReplayedGATTLink(playback, services: [], maximumPayload: 20), simulation)
        }
    }

    @Test func `a write of another content is taken, and what is not repeated delays by five seconds`() throws {
        try play(.tolerant, .maximum) { link, simulation in
            try await link.subscribe(to: Self.characteristic(1))
            try await link.write([1, 21, 27], to: Self.characteristic(2), .withResponse)
            #expect(try await link.nextValue()?.bytes == [60])
            #expect(simulation.uptime == .zero)
            // The battery is not asked again.
            #expect(try await link.nextValue()?.bytes == [61])
            #expect(simulation.uptime == Playback.tolerance)
            #expect(try await link.nextValue() == nil)
        }
    }

    @Test func `a call that is repeated gets its answer again, and one that was never made is refused`() throws {
        try play(.tolerant, .maximum) { link, _ in
            try await link.subscribe(to: Self.characteristic(1))
            try await link.write([1, 21, 27], to: Self.characteristic(2), .withResponse)
            try await link.write([1, 21, 28], to: Self.characteristic(2), .withResponse)
            for _ in 0..<2 { #expect(try await link.read(Self.characteristic(3)) == [90]) }
            await #expect(throws: GATTError.refused(.requestNotSupported)) {
                try await link.read(Self.characteristic(1))
            }
            #expect(try await link.nextValue()?.bytes == [60])
        }
    }

    @Test func `compared by clocks, the same write ends the link`() throws {
        try play(.clocks, .maximum) { link, _ in
            try await link.subscribe(to: Self.characteristic(1))
            await #expect(throws: GATTError.self) {
                try await link.write([1, 21, 27], to: Self.characteristic(2), .withResponse)
            }
            await #expect(throws: LinkError.self) { try await link.nextValue() }
        }
    }

    @Test func `a pause that the gateway makes again takes as long as it took`() throws {
        try play(.clocks, .times(1)) { link, simulation in
            try await link.subscribe(to: Self.characteristic(1))
            try await link.write([1, 20, 26], to: Self.characteristic(2), .withResponse)
            #expect(try await link.nextValue()?.bytes == [60])
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    let value = try await link.nextValue()
                    #expect(value?.bytes == [61])
                }
                // An hour passes before the gateway checks the battery, and nothing breaks meanwhile.
                try await simulation.gatewayClock.sleep(for: .seconds(3_596))
                #expect(try await link.read(Self.characteristic(3)) == [90])
                try await group.waitForAll()
            }
        }
    }
}
