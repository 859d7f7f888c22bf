/// The programs that a test started. They end with `withPrograms`, also when the test fails.
package struct Programs: Sendable {
    private let runs: AsyncStream<ChildProgram>.Continuation

    fileprivate init(_ runs: AsyncStream<ChildProgram>.Continuation) { self.runs = runs }

    /// Starts the program `name`, found by the search path or an absolute path.
    package func start(_ name: String, _ arguments: [String]) -> ChildProgram {
        let program = ChildProgram(name, arguments)
        runs.yield(program)
        return program
    }
}

/// Runs `body`, and ends the programs that it started afterwards: first asked, then killed, and waited for.
package func withPrograms(_ body: (Programs) async throws -> Void) async throws {
    let (stream, runs) = AsyncStream.makeStream(of: ChildProgram.self)
    try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask {
            await withDiscardingTaskGroup { running in
                for await program in stream { running.addTask { await program.run() } }
                // Cancelled: the programs are, too.
                running.cancelAll()
            }
        }
        defer {
            runs.finish()
            group.cancelAll()
        }
        try await body(Programs(runs))
    }
}
