/// The programs started by a test. They end with `withPrograms`, even if the test fails.
package struct Programs: Sendable {
    private let runs: AsyncStream<ChildProgram>.Continuation

    fileprivate init(_ runs: AsyncStream<ChildProgram>.Continuation) { self.runs = runs }

    /// Starts the program `name`, given as a name in the search path or as an absolute path.
    package func start(_ name: String, _ arguments: [String]) -> ChildProgram {
        let program = ChildProgram(name, arguments)
        runs.yield(program)
        return program
    }
}

/// Runs `body`, then ends its programs with `SIGTERM`, kills those that ignore it, and waits for their end.
package func withPrograms(_ body: (Programs) async throws -> Void) async throws {
    let (stream, runs) = AsyncStream.makeStream(of: ChildProgram.self)
    try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask {
            await withDiscardingTaskGroup { running in
                for await program in stream { running.addTask { await program.run() } }
                // Cancellation also ends the programs.
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
