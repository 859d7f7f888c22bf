import Engines
import GatewayKit
import GatewayTesting
import TestSupport
import Testing
import Vitals

@Suite struct AgentCommandTests {
    private static let needing: [DeviceCommand] = [
        .sync(metrics: [], from: nil, to: nil), .measure(.heartRate, duration: .seconds(30)), .fetch(metrics: []),
        .time,
        .history(.heartRate, from: nil, to: nil, limit: 10, page: nil, syncsFirst: true),
        .daily(.heartRate, from: day, to: day, syncsFirst: true),
    ]
    private static let others: [DeviceCommand] = [
        .stopMeasuring(nil), .reconnect, .configure(MonitorPatch(), ifVersion: nil, adopts: false),
        .history(.heartRate, from: nil, to: nil, limit: 10, page: nil, syncsFirst: false),
        .daily(.heartRate, from: day, to: day, syncsFirst: false),
    ]
    private static let day = Fixture.utc.day(of: Fixture.noon)

    @Test func `all commands are done by a device that is there`() throws {
        try AgentRig.synced(0..<10) { rig, agent in
            for (index, command) in (Self.needing + Self.others).enumerated() {
                let answer = try await rig.ask(command, "c\(index)", of: agent)
                #expect(answer.status == .done, "\(command.name): \(answer)")
                if case .reconnect = command {
                    let count = rig.count
                    if rig.states.last(where: { $0.part == .link }).map({ !Self.isConnected($0) }) ?? true {
                        try await rig.waitForLink(.connected, after: count)
                    }
                }
            }
        }
    }

    private static func isConnected(_ state: DeviceState) -> Bool { state.asLink?.phase == .connected }

    @Test(arguments: needing)
    func `a command to an offline device is answered at once, and what needs no device is done`(
        command: DeviceCommand
    ) throws {
        try AgentRig.running(0..<5, given: { $0.open(.hang) }) { rig, agent in
            let value = try await rig.ask(command, "c", of: agent).code
            #expect(value == .offline)
            for (index, command) in Self.others.enumerated() {
                if case .reconnect = command { continue }
                let value = try await rig.ask(command, "o\(index)", of: agent).status
                #expect(value == .done)
            }
            #expect(rig.uptime < .seconds(5))
        }
    }

    @Test(arguments: needing) func `with an expiry it waits for the device, or expires`(command: DeviceCommand) throws {
        try AgentRig.running(0..<5, given: { $0.open(.hang) }) { rig, agent in
            await rig.submit(command, "late", to: agent, expiresIn: .minutes(10))
            await rig.submit(command, "soon", to: agent, expiresIn: .seconds(30))
            await rig.submit(command, "past", to: agent, expiresIn: .seconds(-1))
            #expect(try await rig.answer("past").status == .expired)
            #expect(try await rig.answer("soon").status == .expired)
            #expect(rig.uptime >= .seconds(30) && rig.uptime < .seconds(31))
            try await rig.sleep(for: .minutes(3))
            #expect(rig.finals("late").isEmpty)
            _ = try await rig.ask(.reconnect, "r", of: agent)
            #expect(try await rig.answer("late").status == .done)
        }
    }

    @Test func `an expiry is a date, also when the clock is set`() throws {
        try AgentRig.running(0..<5, given: { $0.open(.hang) }) { rig, agent in
            await rig.submit(.time, "c", to: agent, expiresIn: .hours(3))
            try await rig.sleep(for: .seconds(5))
            rig.environment.jumpDate(by: .hours(4))
            #expect(try await rig.answer("c").status == .expired)
            #expect(rig.uptime < .minutes(2))
        }
    }

    @Test(arguments: needing) func `each is answered once when the session is lost, or the agent stopped, meanwhile`(
        command: DeviceCommand
    ) throws {
        try AgentRig.running(0..<30) { rig, agent in
            var random = rig.environment.random()
            let (delay, isStopped) = (Int.random(in: 0...40, using: &random), Bool.random(using: &random))
            try await rig.waitForLink(.connected)
            if rig.environment.seed % 3 > 0 { try await rig.waitForSync() }
            rig.behave { _ in rig.environment.seed % 2 == 0 ? .hang : .delay(.milliseconds(15)) }
            for index in 0..<3 { await rig.submit(command, "c\(index)", to: agent) }
            try await rig.sleep(for: .milliseconds(delay))
            await rig.submit(command, "late", to: agent, expiresIn: .minutes(5))
            if isStopped { return }
            rig.session?.disconnect()
            rig.behave { _ in .answer }
            for index in 0..<3 { _ = try await rig.answer("c\(index)") }
            _ = try await rig.answer("late")
        }
    }

    @Test func `commands that wait are answered when the agent stops, and later ones, too`() throws {
        try AgentRig.everyOrder { environment in
            let rig = AgentRig(environment)
            rig.open(.hang)
            let agent = rig.makeAgent()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for index in 0..<20 {
                    await rig.submit(.time, "c\(index)", to: agent, expiresIn: index % 2 == 0 ? .hours(1) : nil)
                }
                group.addTask { await rig.run(agent) }
                try await environment.gatewayClock.sleep(for: .milliseconds(Int64(environment.seed)))
                agent.stop()
                try await group.waitForAll()
            }
            for index in 0..<20 { #expect(rig.finals("c\(index)").map(\.code) == [.offline]) }
            #expect(try await rig.ask(.time, "after", of: agent).code == .offline)
            #expect(environment.uptime < .seconds(1))
        }
    }

    @Test func `too many at once are busy, and the others are done`() throws {
        try AgentRig.synced(0..<5) { rig, agent in
            rig.behave { _ in .delay(.seconds(1)) }
            let count = 3 * DeviceAgent.maximumCommands
            for index in 0..<count { await rig.submit(.time, "c\(index)", to: agent) }
            var codes: [AnswerCode?: Int] = [:]
            for index in 0..<count { codes[try await rig.answer("c\(index)").code, default: 0] += 1 }
            #expect(codes[.busy, default: 0] > 0)
            #expect(codes[nil, default: 0] >= DeviceAgent.maximumCommands / 2)
            #expect(codes.count == 2)
        }
    }

    @Test func `the same sync is run once for many, and there is a limit`() throws {
        try AgentRig.synced(0..<5) { rig, agent in
            rig.behave(.delay(.seconds(10)), on: .history)
            let before = rig.calls.count { $0.kind == .history }
            for index in 0..<200 {
                await rig.submit(.sync(metrics: [.heartRate], from: nil, to: nil), "c\(index)", to: agent)
                try await rig.sleep(for: .milliseconds(20))
            }
            var busy = 0
            for index in 0..<200 where try await rig.answer("c\(index)").code == .busy { busy += 1 }
            #expect(busy > 100 && busy < 200 - DeviceAgent.maximumCommands)
            #expect(rig.calls.count { $0.kind == .history } - before == 2)
        }
    }

    @Test func `what the device cannot do is refused`() throws {
        try AgentRig.synced(0..<3) { rig, agent in
            let commands: [DeviceCommand] = [
                .sync(metrics: [.stress, .sleep], from: nil, to: nil), .measure(.stress, duration: .seconds(9)),
                .fetch(metrics: [.heartRate]), .daily(.stress, from: Self.day, to: Self.day, syncsFirst: false),
                .history(.sleep, from: nil, to: nil, limit: 10, page: nil, syncsFirst: false),
                .history(.sleep, from: nil, to: nil, limit: 10, page: nil, syncsFirst: true),
            ]
            for (index, command) in commands.enumerated() {
                let answer = try await rig.ask(command, "c\(index)", of: agent)
                #expect(answer.code == .unsupported)
                #expect(answer.status == .rejected)
            }
        }
    }

    @Test func `the clock of a device that has none cannot be set`() throws {
        try AgentRig.synced(
            0..<3, given: { $0.behave(.fail(DeviceError(.unsupported, "No clock.")), on: .setClock) }
        ) { rig, agent in
            let answer = try await rig.ask(.time, "t", of: agent)
            #expect(answer == Answer(.rejected, code: .unsupported, message: "No clock."))
        }
    }

    @Test func `history comes from the store in pages, and after a sync where that is wanted`() throws {
        try AgentRig.synced(
            0..<5, content: .init(history: [.heartRate: (1...25).map { Fixture.heartRate(60, at: -$0) }])
        ) { rig, agent in
            rig.change { $0.history[.heartRate]?.append(Fixture.heartRate(99, at: 0)) }
            var page: String?
            var starts: [Timestamp] = []
            var index = 0
            repeat {
                index += 1
                let answer = try await rig.ask(
                    .history(.heartRate, from: nil, to: nil, limit: 10, page: page, syncsFirst: true), "h\(index)",
                    of: agent)
                guard case .samples(let samples, .heartRate, let next) = answer.data else {
                    Issue.record("\(answer)")
                    return
                }
                starts += samples.map(\.sample.start)
                page = next
            } while page != nil
            #expect(index == 3)
            #expect(starts == (0...25).map { Fixture.minute(-$0) }.reversed())
            let wrong = try await rig.ask(
                .history(.heartRate, from: nil, to: nil, limit: 10, page: "x", syncsFirst: false), "x", of: agent)
            #expect(wrong.code == .invalid)
            let days = try await rig.ask(
                .daily(.heartRate, from: Self.day, to: Self.day, syncsFirst: false), "d", of: agent)
            let records = try #require(days.asDays, "\(days)")
            #expect(records.map(\.summary.count) == [26])
            let range = try await rig.ask(
                .daily(.heartRate, from: Self.day, to: Self.day.advanced(by: 400), syncsFirst: false), "e",
                of: agent)
            #expect(range.code == .invalid)
        }
    }
}
