import Concurrency
import Contract
import MQTT
import TestSupport
import Testing
import Vitals

@testable import Gateway

@Suite(.timeLimit(.minutes(1))) struct CommandQueueTests {
    private static func queue() throws -> CommandQueue {
        CommandQueue(topics: ContractTopics(gateway: try #require(DeviceID("home"))))
    }

    /// A message that is no device's.
    private static func command(_ number: Int, size: Int = 1) -> InboundMessage {
        InboundMessage(topic: "\(number)", payload: [UInt8](repeating: 0, count: size))
    }

    @Test func `what comes faster than it is taken is refused, in bounded memory, and nothing is lost`() async throws {
        let queue = try Self.queue()
        let gate = Promise<Void>()
        let run = Recorder<String>()
        let refused = Recorder<InboundMessage>()
        let count = CommandQueue.maximumWaiting + CommandQueue.maximumExcess + 500
        let added = Recorder<Int>()
        await withTaskGroup(of: Void.self) { group in
            defer { group.cancelAll() }
            group.addTask {
                for number in 0..<count {
                    await queue.add(Self.command(number, size: number == CommandQueue.maximumWaiting + 9 ? 5_000 : 1))
                    added.append(number)
                }
            }
            group.addTask {
                await gate.waitUncancelled()
                await queue.serve(run: { run.append($0.topic) }, refuse: { refused.append($0) })
            }
            // Until a task takes them, no more are held than the two queues have room for.
            while added.elements.count < CommandQueue.maximumWaiting + CommandQueue.maximumExcess {
                await Task.yield()
            }
            for _ in 0..<100 { await Task.yield() }
            #expect(added.elements.count == CommandQueue.maximumWaiting + CommandQueue.maximumExcess)
            gate.fulfil(())
            while run.elements.count + refused.elements.count < count { await Task.yield() }
        }
        #expect(Set(run.elements + refused.elements.map(\.topic)).count == count)
        #expect(run.elements == run.elements.sorted { Int($0) ?? 0 < Int($1) ?? 0 })
        #expect(refused.elements.count >= CommandQueue.maximumExcess)
        let long = try #require(refused.elements.first { $0.topic == "\(CommandQueue.maximumWaiting + 9)" })
        #expect(long.payload.isEmpty)
        #expect(long.payloadSize == 5_000)
    }

    @Test(arguments: [false, true])
    func `a command that is never begun, or never refused, is seen until it is`(isExcess: Bool) async throws {
        let queue = try Self.queue()
        let turns = isExcess ? queue.refusing : queue.running
        let (isReached, gate) = (Promise<Void>(), Promise<Void>())
        let answered = Recorder<Void>()
        @Sendable func hang() async {
            isReached.fulfil(())
            try? await gate.wait()
        }
        @Sendable func ask() async {
            await turns.answer()
            if !Task.isCancelled { answered.append(()) }
        }
        await queue.answer()
        for number in 0..<(isExcess ? CommandQueue.maximumWaiting + 1 : 1) { await queue.add(Self.command(number)) }
        // No task begins them: it may have missed its wake-up.
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await ask() }
            for _ in 0..<100 { await Task.yield() }
            group.cancelAll()
        }
        #expect(answered.elements.isEmpty)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                await queue.serve(
                    run: { _ in if !isExcess { await hang() } }, refuse: { _ in if isExcess { await hang() } })
            }
            try await isReached.wait()
            group.addTask { await ask() }
            for _ in 0..<100 { await Task.yield() }
            #expect(answered.elements.isEmpty)
            gate.fulfil(())
            try await answered.wait { !$0.isEmpty }
            await queue.answer()
            group.cancelAll()
        }
        await queue.answer()
    }

    @Test func `a cancelled task loses no message, and the next connection waits for room`() async throws {
        let queue = try Self.queue()
        let count = CommandQueue.maximumWaiting + CommandQueue.maximumExcess + 500
        let end = Promise<Void>()
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                await end.waitUncancelled()
                for number in 0..<count { await queue.add(Self.command(number)) }
            }
            group.cancelAll()
            end.fulfil(())
        }
        let refused = Recorder<String>()
        let hasRoom = Recorder<Int>()
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                await queue.waitForRoom()
                hasRoom.append(refused.elements.count)
            }
            group.addTask {
                await queue.serve(run: { refused.append($0.topic) }, refuse: { refused.append($0.topic) })
            }
            await group.next()
            group.cancelAll()
        }
        #expect((hasRoom.elements.first ?? 0) >= CommandQueue.excessAtOnce)
        await queue.end { refused.append($0.topic) }
        #expect(refused.elements.count == count)
        #expect(Set(refused.elements).count == count)
    }
    @Test(arguments: [(2_000, 1), (50, 250_000)])
    func `a flood to one device is refused, and a command to another still finds a place`(
        count: Int, size: Int
    ) async throws {
        let queue = try Self.queue()
        func send(_ number: Int, to device: String) async {
            await queue.add(
                InboundMessage(
                    topic: "vitals2mqtt/home/\(device)/command/\(number)", payload: [UInt8](repeating: 0, count: size)))
        }
        let (run, refused) = (Recorder<String>(), Recorder<String>())
        for number in 0..<count { await send(number, to: "anna-1") }
        await send(0, to: "bob-1")
        await send(0, to: "gateway")
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await queue.serve(run: { run.append($0.topic) }, refuse: { refused.append($0.topic) }) }
            while run.elements.count + refused.elements.count < count + 2 { await Task.yield() }
            group.cancelAll()
        }
        #expect(run.elements.suffix(2) == ["vitals2mqtt/home/bob-1/command/0", "vitals2mqtt/home/gateway/command/0"])
        // Half of the places, or of the bytes.
        let share = size == 1 ? CommandQueue.maximumWaiting / 2 : (CommandQueue.maximumWaitingBytes / size + 1) / 2
        #expect(run.elements.count == share + 2)
        #expect(refused.elements.count == count - share)
    }
}
