import GatewayKit
import GatewayTesting
import Testing

@Suite struct ScriptedGATTLinkTests {
    private let link = ScriptedGATTLink(services: ["180d": ["2a37", "2a38"], "180f": ["2a19"]]) { link, write in
        if let answer = link.characteristic("2a37") { link.notify(write.bytes.reversed(), from: answer) }
    }

    @Test func `has the services of its table`() throws {
        #expect(link.services.map(\.uuid) == [ScriptedGATTLink.uuid("180d"), ScriptedGATTLink.uuid("180f")])
        let rate = try #require(link.characteristic("2A37"))
        #expect(rate.uuid == "00002a37-0000-1000-8000-00805f9b34fb")
        #expect(rate.service == "0000180d-0000-1000-8000-00805f9b34fb")
        #expect(Set(link.services.flatMap(\.characteristics).map(\.handle)).count == 3)
    }

    @Test func `gives the values that it was given, and fails where it was told`() async throws {
        let battery = try #require(link.characteristic("2a19"))
        await #expect(throws: LinkError.self) { try await link.read(battery) }
        link.setValue([88], of: battery)
        #expect(try await link.read(battery) == [88])
        link.fail(battery, with: LinkError(.timeout, "It does not answer."))
        await #expect(throws: LinkError(.timeout, "It does not answer.")) { try await link.read(battery) }
    }

    @Test func `records writes and answers them, once notifications are on`() async throws {
        let rate = try #require(link.characteristic("2a37"))
        let point = try #require(link.characteristic("2a38"))
        try await link.write([1, 2], to: point, isAcknowledged: true)
        try await link.setNotifying(true, for: rate)
        try await link.write([3, 4], to: point, isAcknowledged: false)
        #expect(
            link.writes == [
                .init(characteristic: point, bytes: [1, 2], isAcknowledged: true),
                .init(characteristic: point, bytes: [3, 4], isAcknowledged: false),
            ])
        #expect(try await link.nextNotification() == GATTNotification(characteristic: rate, bytes: [4, 3]))
        await #expect(throws: LinkError.self) {
            try await link.write(Array(repeating: 0, count: 21), to: point, isAcknowledged: true)
        }
    }

    @Test func `notifications end with the connection`() async throws {
        let rate = try #require(link.characteristic("2a37"))
        try await link.setNotifying(true, for: rate)
        #expect(link.notify([1], from: rate))
        link.disconnect()
        #expect(!link.notify([2], from: rate))
        #expect(try await link.nextNotification()?.bytes == [1])
        #expect(try await link.nextNotification() == nil)
        await #expect(throws: LinkError.self) { try await link.read(rate) }
    }

    @Test func `a cancelled wait ends`() throws {
        try Simulation.run(seed: 1, deadline: .seconds(1)) { _ in
            let link = ScriptedGATTLink(services: [:])
            await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { _ = try await link.nextNotification() }
                await Task.yield()
                group.cancelAll()
                await #expect { try await group.next() } throws: { ($0 as? LinkError)?.code == .cancelled }
            }
        }
    }
}
