import CSDBus

/// A handler that sd-bus calls for signals or calls of methods, until it is released.
final class Handler {
    let action: (Bus.Message) -> Void
    var slot: OpaquePointer?

    init(_ action: @escaping (Bus.Message) -> Void) { self.action = action }

    deinit { sd_bus_slot_unref(slot) }
}

/// A call that waits for its answer.
final class Call {
    var slot: OpaquePointer?
    /// Makes the bus forget it.
    var forget: () -> Void = {}
    private var completion: ((Bus.Result) -> Void)?

    init(_ completion: @escaping (Bus.Result) -> Void) { self.completion = completion }

    deinit { sd_bus_slot_unref(slot) }

    /// Takes the answer.
    func answered(_ pointer: OpaquePointer) {
        if let error = BusError(in: pointer) { return complete(.failure(error)) }
        do throws(BusError) { complete(.success(try BusMessage(pointer).values())) } catch { complete(.failure(error)) }
    }

    /// Ends the call, once.
    func complete(_ result: Bus.Result) {
        let completion = completion
        self.completion = nil
        withExtendedLifetime(self) {
            forget()
            completion?(result)
        }
    }

    /// Waits for no answer any more.
    func cancel() {
        completion = nil
        sd_bus_slot_unref(slot)
        slot = nil
        forget()
    }
}
