import Concurrency
import GatewayKit
import Subprocess

/// The link to a running program.
actor ProgramLink: ByteLink {
    private let program: Program
    private let input: StandardInputWriter
    private var output: SubprocessOutputSequence.Iterator?
    private var leftover: ArraySlice<UInt8> = []
    private var hasEnded = false
    private var isValid = true
    private var isBroken = false
    private let writing = AsyncMutex()

    init(program: Program, input: StandardInputWriter, output: SubprocessOutputSequence) {
        self.program = program
        self.input = input
        self.output = output.makeAsyncIterator()
    }

    /// Reads the program's output. Nothing is read ahead: a program that writes faster than the gateway reads has to
    /// wait.
    func read(atMost limit: Int) async throws(LinkError) -> [UInt8] {
        if leftover.isEmpty {
            leftover = try await next()[...]
        }
        let bytes = Array(leftover.prefix(limit))
        leftover = leftover.dropFirst(limit)
        return bytes
    }

    /// Writes all bytes in one piece. Cancelling ends the link, as it is unknown how much was written.
    func write(_ bytes: [UInt8]) async throws(LinkError) {
        try await writing.withLock { () async throws(LinkError) in try await writeAlone(bytes) }
    }

    private func writeAlone(_ bytes: [UInt8]) async throws(LinkError) {
        guard isValid, !Task.isCancelled else { throw closed }
        guard !isBroken else { throw broken }
        do {
            guard try await input.write(bytes) < bytes.count else { return }
        } catch {
            isBroken = true
            throw broken
        }
        isBroken = true
        throw Task.isCancelled ? closed : broken
    }

    /// Makes every later call fail, because the program's pipes are now closed. Returns whether the program had ended
    /// its side.
    func invalidate() -> Bool {
        isValid = false
        return hasEnded || isBroken
    }

    private func next() async throws(LinkError) -> [UInt8] {
        guard isValid else { throw closed }
        // The iterator is taken out during the wait: one task reads at a time.
        guard !hasEnded, var iterator = output else { return [] }
        output = nil
        defer { output = iterator }
        let buffer: SubprocessOutputSequence.Buffer?
        do {
            buffer = try await iterator.next(isolation: self)
        } catch {
            hasEnded = true
            throw LinkError(.broken, "Reading from the program \(program.name) failed: \(error)")
        }
        if let buffer { return buffer.withUnsafeBytes { Array($0) } }
        // A cancelled read looks like the end.
        if Task.isCancelled { throw closed }
        hasEnded = true
        return []
    }

    private var closed: LinkError {
        LinkError(.cancelled, "The link with the program \(program.name) was closed by the gateway.")
    }
    private var broken: LinkError {
        LinkError(.broken, "The program \(program.name) no longer reads its standard input.")
    }
}
