import GatewayKit
import Vitals

/// Tracks whether the device is worn and charging, if it reports that.
final class WearTracker {
    private let context: DeviceContext
    private var state: WearState

    init(context: DeviceContext) {
        self.context = context
        state = WearState(at: context.clock.now)
    }

    /// Whether values count as a person's: true unless the device says otherwise.
    var isWorn: Bool { state.isWorn ?? true }

    func change(isWorn: Bool) { change { $0.isWorn = isWorn } }
    func change(isCharging: Bool) { change { $0.isCharging = isCharging } }

    /// Forgets both while the device is offline.
    func forget() {
        change { state in
            state.isWorn = nil
            state.isCharging = nil
        }
    }

    func publish() { context.publish(.wear(state)) }

    private func change(_ change: (inout WearState) -> Void) {
        var new = state
        change(&new)
        guard new != state else { return }
        new.at = context.clock.now
        state = new
        publish()
    }
}
