/// Runs `operation`, but cancels it if `limit` returns first.
///
/// A `limit` that throws, because the task was cancelled, is ignored: `operation` is cancelled, too, and its value is
/// awaited.
/// - Returns: the value of `operation`; `nil` if `limit` returned first.
package func race<Value: Sendable>(
    against limit: @escaping @Sendable () async throws -> Void,
    _ operation: @escaping @Sendable () async -> Value
) async -> Value? {
    await withTaskGroup(of: RaceResult<Value>.self) { group in
        group.addTask { .value(await operation()) }
        group.addTask {
            do { try await limit() } catch { return .noLimit }
            return .limit
        }
        defer { group.cancelAll() }
        while let result = await group.next() {
            switch result {
            case .value(let value): return value
            case .limit: return nil
            case .noLimit: continue
            }
        }
        return nil
    }
}

private enum RaceResult<Value: Sendable>: Sendable {
    case value(Value)
    case limit, noLimit
}
