import Concurrency
import GatewayKit
import GatewayTesting
import TestSupport
import Testing
import Vitals

@Suite struct MailboxTests {
    private struct Failure: Error, Equatable {}

    private static func elements(_ mailbox: Mailbox<Int, Failure>) async throws -> [Int]? {
        if case .elements(let elements) = try await mailbox.next() { elements } else { nil }
    }

    @Test func `what was sent before the end comes before the end`() async throws {
        let mailbox = Mailbox<Int, Failure>(capacity: 10)
        await mailbox.send([1, 2])
        await mailbox.send([3])
        mailbox.finish(Failure())
        await mailbox.send([4])
        #expect(try await Self.elements(mailbox) == [1, 2, 3])
        await #expect(throws: Failure()) { try await mailbox.next() }
    }

    @Test func `only the first end counts`() async throws {
        let mailbox = Mailbox<Int, Failure>(capacity: 10)
        mailbox.finish()
        mailbox.finish(Failure())
        #expect(try await Self.elements(mailbox) == nil)
    }

    @Test(arguments: 0..<20) func `a sender waits while the mailbox is full`(seed: UInt64) throws {
        try Simulation.run(seed: seed, deadline: .minutes(1)) { environment in
            let mailbox = Mailbox<Int, Failure>(capacity: 10) { $0 }
            let sent = Recorder<Int>()
            await withTaskGroup(of: Void.self) { group in
                group.addTask {
                    for weight in [4, 5, 1, 2] {
                        await mailbox.send([weight])
                        sent.append(weight)
                    }
                }
                group.addTask {
                    try? await environment.gatewayClock.sleep(for: .seconds(1))
                    #expect(sent.elements == [4, 5])
                    let first = try? await Self.elements(mailbox)
                    #expect(first == [4, 5, 1])
                    try? await environment.gatewayClock.sleep(for: .seconds(1))
                    #expect(sent.elements == [4, 5, 1, 2])
                }
            }
        }
    }
}
