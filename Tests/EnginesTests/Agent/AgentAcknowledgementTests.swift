import Engines
import GatewayKit
import GatewayTesting
import TestSupport
import Testing
import Vitals

/// An alert that a person has seen: answered, shown, on disk, and over with its edge.
@Suite struct AgentAcknowledgementTests {
    private static func alert(_ edge: AlertEvent.Edge, at minute: Int) -> DeviceEvent {
        .alert(DeviceAlert(rule: Fixture.restingHigh, edge: edge, value: 130, at: Fixture.minute(minute)))
    }

    /// Lets the device raise its alert. Returns the id of the edge.
    private static func raise(_ rig: AgentRig, at minute: Int) async throws -> SampleID {
        let count = rig.count
        await rig.session?.send(alert(.raised, at: minute))
        let state = try await rig.wait(after: count) { $0.asLevel?.isActive == true }
        return try #require(state.asLevel?.lastID)
    }

    @Test func `an edge is acknowledged once, whoever comes later hears who was first, and the next edge is new`()
        throws
    {
        try AgentRig.synced(0..<10) { rig, agent in
            let edge = try await Self.raise(rig, at: 0)
            let answer = try await rig.ask(.acknowledge(edge, by: "anna"), "a", of: agent)
            #expect(answer.status == .done && answer.message == nil)
            #expect(answer.asAcknowledgement?.person == "anna")
            #expect(rig.levels.last?.acknowledgement == answer.asAcknowledgement)
            #expect(rig.levels.last?.isActive == true && rig.levels.last?.lastID == edge)
            let shown = rig.levels.count
            let again = try await rig.ask(.acknowledge(edge, by: "anna"), "b", of: agent)
            #expect(again == answer)
            let other = try await rig.ask(.acknowledge(edge, by: "ben"), "c", of: agent)
            #expect(other.status == .done && other.data == answer.data)
            #expect(other.message == "anna has acknowledged it before.")
            #expect(rig.levels.count == shown)

            let count = rig.count
            await rig.session?.send(Self.alert(.cleared, at: 1))
            try await rig.wait(after: count) { $0.asLevel?.isActive == false }
            let late = try await rig.ask(.acknowledge(edge, by: "ben"), "d", of: agent)
            #expect(late.status == .rejected && late.code == .conflict)
            let next = try await Self.raise(rig, at: 2)
            #expect(next != edge && rig.levels.last?.acknowledgement == nil)
            let old = try await rig.ask(.acknowledge(edge, by: "ben"), "e", of: agent)
            #expect(old.status == .rejected)
            let stranger = try await rig.ask(.acknowledge(SampleID(high: 8, low: 8), by: "ben"), "f", of: agent)
            #expect(stranger == old && rig.levels.last?.acknowledgement == nil)
        }
    }

    @Test func `of several who acknowledge at once the first counts`() throws {
        try AgentRig.synced(0..<20) { rig, agent in
            let edge = try await Self.raise(rig, at: 0)
            for person in ["anna", "ben", "carla"] {
                await rig.submit(.acknowledge(edge, by: person), person, to: agent)
            }
            for person in ["anna", "ben", "carla"] {
                let answer = try await rig.answer(person)
                #expect(answer.asAcknowledgement?.person == "anna")
            }
        }
    }

    @Test func `it is taken while the device is offline, and stands after a restart`() throws {
        try AgentRig.everyOrder(0..<5) { environment in
            let rig = AgentRig(environment)
            try await rig.run { agent in
                try await rig.waitForSync()
                let edge = try await Self.raise(rig, at: 0)
                rig.open(.hang, .hang)
                rig.session?.disconnect()
                let answer = try await rig.ask(.acknowledge(edge, by: "anna"), "a", of: agent)
                #expect(answer.status == .done)
            }
            let count = rig.count
            try await rig.run { _ in
                let state = try await rig.wait(after: count) { $0.asLevel != nil }
                #expect(state.asLevel?.acknowledgement?.person == "anna")
            }
        }
    }

    @Test func `one that cannot be stored has failed and changes nothing`() throws {
        try AgentRig.synced(0..<5) { rig, agent in
            let edge = try await Self.raise(rig, at: 0)
            rig.store.fail { $0 == .ingest ? StoreError(.full, "full") : nil }
            let failed = try await rig.ask(.acknowledge(edge, by: "anna"), "a", of: agent)
            #expect(failed.status == .failed && failed.code == .deviceError)
            #expect(rig.levels.last?.acknowledgement == nil)
            rig.store.fail(nil)
            let taken = try await rig.ask(.acknowledge(edge, by: "ben"), "b", of: agent)
            #expect(taken.asAcknowledgement?.person == "ben")
        }
    }
}
