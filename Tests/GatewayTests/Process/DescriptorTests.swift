import Gateway
import GatewayKit
import Glibc
import Synchronization
import TestSupport
import Testing

@Suite struct DescriptorTests {
    @Test func `links share what is left beside the reserve, and get it back`() async throws {
        let budget = DescriptorBudget(limit: DescriptorBudget.reserve + 5)
        try await budget.with(2) {
            try await budget.with(3) {
                await #expect(throws: LinkError.self) { try await budget.with(1) {} }
                do { try await budget.with(1) {} } catch {
                    #expect("\(error)".contains("the process may have 45, and 2 other links have theirs"))
                }
            }
            try await budget.with(3) {}
        }
        await #expect(throws: LinkError(.broken, "x")) { try await budget.with(5) { throw LinkError(.broken, "x") } }
        try await budget.with(5) {}
    }

    @Test func `small links leave room for one of those that need the most, such as a program`() async throws {
        let budget = DescriptorBudget(limit: DescriptorBudget.reserve + 15)
        budget.keepRoom(for: 9)
        try await budget.with(2) {
            try await budget.with(4) {
                await #expect(throws: LinkError.self) { try await budget.with(2) {} }
                // What needs none is never refused.
                try await budget.with(0) {}
                try await budget.with(9) {
                    await #expect(throws: LinkError.self) { try await budget.with(2) {} }
                }
                // What the program gave back is not for them, either.
                await #expect(throws: LinkError.self) { try await budget.with(2) {} }
                // After a reload without programs.
                budget.keepRoom(for: 4)
                try await budget.with(2) {}
            }
        }
        // Links that need the most share all of it.
        budget.keepRoom(for: 5)
        try await budget.with(5) { try await budget.with(5) { try await budget.with(5) {} } }
    }

    @Test func `small links leave room for a program also beside a listener that needs more than it`() async throws {
        let budget = DescriptorBudget(limit: DescriptorBudget.reserve + 50)
        budget.keepRoom(for: 9)
        try await budget.with(34) {
            try await budget.with(7) {
                await #expect(throws: LinkError.self) { try await budget.with(1) {} }
                try await budget.with(9) {}
            }
        }
    }

    @Test func `where a program has no room at all, small links need not leave any`() async throws {
        let budget = DescriptorBudget(limit: DescriptorBudget.reserve + 8)
        budget.keepRoom(for: 9)
        try await budget.with(4) { try await budget.with(4) {} }
        await #expect(throws: LinkError.self) { try await budget.with(9) {} }
    }

    @Test(arguments: [(limit: 43, warnings: 1), (limit: 44, warnings: 0)])
    func `warns with numbers where the limit is too low`(limit: Int, warnings: Int) throws {
        let configuration = try load(
            """
            mqtt: {url: mqtt://h}
            devices: [{id: a, driver: ring, transport: {type: radio}}]
            """)
        let log = LogRecorder()
        DescriptorBudget(limit: limit).check(configuration, logger: log.logger)
        #expect(log.entries.count == warnings)
        for entry in log.entries {
            #expect(entry.metadata == ["descriptors.limit": "43", "descriptors.needed": "44", "devices": "1"])
        }
    }

    @Test func `a limit below the reserve is refused, with what to do`() throws {
        try DescriptorBudget(limit: DescriptorBudget.reserve).checkReserve()
        let shortage = #expect(throws: DescriptorShortage.self) {
            try DescriptorBudget(limit: DescriptorBudget.reserve - 1).checkReserve()
        }
        #expect(
            shortage?.description.contains("may have 39 file descriptors, and the gateway itself needs 40") == true)
    }

    @Test func `the soft limit is raised to the hard one`() {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        limit.rlim_cur = min(limit.rlim_cur, limit.rlim_max - 1)
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        let original = Int(clamping: limit.rlim_cur)
        InheritedLimits.descriptors = nil
        DescriptorLimit.raise()
        #expect(InheritedLimits.descriptors == original)
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        #expect(DescriptorLimit.current == Int(clamping: limit.rlim_max))
    }
}
