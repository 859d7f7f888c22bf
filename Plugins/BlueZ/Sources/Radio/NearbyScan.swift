import Concurrency
import GatewayKit

/// A scan for people: what adapters hear until its end. It belongs to the radio.
final class NearbyScan {
    /// The most devices that a scan keeps. In a crowd each telephone changes its address now and then.
    static let capacity = 1_024
    /// How long the adapters may take to begin, unless they connect a device.
    static let startTime: Duration = .seconds(15)
    /// How long the adapters may take to begin in any case: the time of two attempts to connect.
    static let longestStart: Duration = .seconds(90)

    /// The adapters that listen for it, by object.
    let adapters: Set<String>
    /// An adapter listens, or none can.
    let began = Promise<Result<Void, LinkError>>()
    /// The last advertisement of each device, by object.
    private(set) var devices: [String: NearbyDevice] = [:]

    init(adapters: Set<String>) { self.adapters = adapters }

    /// A device was heard, or is known to be near.
    func add(_ device: NearbyDevice, _ path: String) {
        guard devices[path] != nil || devices.count < Self.capacity else { return }
        var device = device
        // The strength is forgotten while the adapter connects.
        device.signalStrength = device.signalStrength ?? devices[path]?.signalStrength
        devices[path] = device
    }
}
