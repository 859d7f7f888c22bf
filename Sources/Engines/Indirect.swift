/// Keeps a large value that is there only now and then in memory of its own, so that its owner is small without it: a
/// gateway may have thousands of owners.
@propertyWrapper struct Indirect<Value: Sendable>: Sendable {
    private indirect enum Storage: Sendable {
        case none
        case some(Value)
    }
    private var storage: Storage

    init(wrappedValue: Value?) { storage = wrappedValue.map { .some($0) } ?? .none }

    var wrappedValue: Value? {
        get { if case .some(let value) = storage { value } else { nil } }
        set { storage = newValue.map { .some($0) } ?? .none }
    }
}
