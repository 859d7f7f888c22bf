import GatewayKit
import GatewayTesting
import TestSupport
import Testing
import Vitals

@Suite struct ScriptedByteLinkTests {
    @Test func `what one end writes the other one reads, to the end`() async throws {
        let (gateway, device) = ScriptedByteLink.pair()
        try await gateway.write([1, 2, 3])
        try await device.write([4])
        #expect(try await device.read(atMost: 2) == [1, 2])
        #expect(try await gateway.read(atMost: 9) == [4])
        gateway.close()
        #expect(try await device.read(atMost: 9) == [3])
        #expect(try await device.read(atMost: 9) == [])
        await #expect(throws: LinkError.self) { try await device.write([5]) }
    }

    @Test func `a writer waits while nobody reads`() throws {
        try Simulation.run(seed: 1, deadline: .seconds(1)) { _ in
            let (gateway, device) = ScriptedByteLink.pair(capacity: 100)
            try await withThrowingTaskGroup { group in
                group.addTask { for _ in 0..<1_000 { try await device.write(Array(repeating: 1, count: 10)) } }
                var total = 0
                while total < 10_000 {
                    total += try await gateway.read(atMost: 7).count
                    #expect(gateway.waiting <= 110)
                }
                try await group.waitForAll()
            }
        }
    }

    @Test func `writes of several tasks do not mix`() throws {
        for seed in 0..<UInt64(20) {
            try Simulation.run(seed: seed, deadline: .seconds(1)) { environment in
                let (gateway, device) = ScriptedByteLink.pair(
                    capacity: 20, toGateway: LinkFaults(chunks: 1...5), random: environment.random())
                try await withThrowingTaskGroup { group in
                    for writer in UInt8(0)..<4 {
                        group.addTask { for _ in 0..<5 { try await device.write(Array(repeating: writer, count: 16)) } }
                    }
                    var received: [UInt8] = []
                    while received.count < 4 * 5 * 16 {
                        let bytes = try await gateway.read(atMost: 100)
                        #expect((1...5).contains(bytes.count))
                        received += bytes
                    }
                    for start in stride(from: 0, to: received.count, by: 16) {
                        #expect(Set(received[start..<start + 16]).count == 1)
                    }
                    try await group.waitForAll()
                }
            }
        }
    }

    @Test func `breaks after so many bytes, in both directions`() async throws {
        let (gateway, device) = ScriptedByteLink.pair(toGateway: LinkFaults(breaksAfter: 5))
        try await device.write([1, 2, 3])
        await #expect(throws: LinkError.self) { try await device.write([4, 5, 6]) }
        #expect(try await gateway.read(atMost: 9) == [1, 2, 3, 4, 5])
        await #expect { try await gateway.read(atMost: 9) } throws: { ($0 as? LinkError)?.code == .broken }
        await #expect { try await gateway.write([7]) } throws: { ($0 as? LinkError)?.code == .broken }
        await #expect { try await device.read(atMost: 9) } throws: { ($0 as? LinkError)?.code == .broken }
    }

    @Test func `delays bytes on the clock that it is given`() throws {
        try Simulation.run(seed: 2, deadline: .minutes(1)) { environment in
            let delay = LinkFaults(delay: .milliseconds(200) ... .milliseconds(300))
            let (gateway, device) = ScriptedByteLink.pair(toGateway: delay, clock: environment.gatewayClock)
            try await device.write([1])
            #expect(try await gateway.read(atMost: 1) == [1])
            #expect(environment.uptime >= .milliseconds(200) && environment.uptime <= .milliseconds(300))
        }
    }

    @Test func `a cancelled read or write ends and harms nothing`() throws {
        try Simulation.run(seed: 3, deadline: .seconds(1)) { _ in
            let (gateway, device) = ScriptedByteLink.pair(capacity: 1)
            try await gateway.write([1])
            await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { _ = try await gateway.read(atMost: 1) }
                group.addTask { try await gateway.write([2]) }
                await Task.yield()
                group.cancelAll()
                for _ in 0..<2 {
                    await #expect { try await group.next() } throws: { ($0 as? LinkError)?.code == .cancelled }
                }
            }
            #expect(try await device.read(atMost: 9) == [1])
            try await device.write([3])
            #expect(try await gateway.read(atMost: 9) == [3])
        }
    }
}
