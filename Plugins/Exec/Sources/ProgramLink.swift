import GatewayKit
import Subprocess

/// The link with a running program.
actor ProgramLink: ByteLink {
    private let program: Program
    private let input: StandardInputWriter
    private var output: SubprocessOutputSequence.Iterator?
    private var leftover: ArraySlice<UInt8> = []
    private var hasEnded = false
    private var isValid = true
    private var isBroken = false
    private var isWriting = false
    private var writers: [CheckedContinuation<Void, Never>] = []

    init(program: Program, input: StandardInputWriter, output: SubprocessOutputSequence) {
        self.program = program
        self.input = input
        self.output = output.makeAsyncIterator()
    }

    /// Takes what the program wrote. Nothing is read ahead: a program that writes faster than it is read waits.
    func read(atMost limit: Int) async throws(LinkError) -> [UInt8] {
        if leftover.isEmpty {
            leftover = try await next()[...]
        }
        let bytes = Array(leftover.prefix(limit))
        leftover = leftover.dropFirst(limit)
        return bytes
    }

    /// Gives the program all bytes, in one piece. Cancelling it ends the link, as nobody could tell how much was written.
    func write(_ bytes: [UInt8]) async throws(LinkError) {
        while isWriting { await withCheckedContinuation { writers.append($0) } }
        isWriting = true
        defer {
            isWriting = false
            for writer in writers { writer.resume() }
            writers = []
        }
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

    /// Makes every later call fail, as the program's pipes are closed now. Returns whether the program had ended its side.
    func invalidate() -> Bool {
        isValid = false
        return hasEnded || isBroken
    }

    private func next() async throws(LinkError) -> [UInt8] {
        guard isValid else { throw closed }
        // The iterator is away while it waits: one task reads at a time.
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
