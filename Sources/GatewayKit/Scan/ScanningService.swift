/// A service of a plugin that can look for devices in reach, for people who want to configure them.
///
/// The gateway asks an open one while it serves devices. For the command `scan`, and while no device uses the service, it opens one
/// for the time of the scan. Of the devices that are found it names the driver by each driver's `recognition`.
public protocol ScanningService: PluginService {
    /// The transport that connects what is found.
    static var transport: any Transport.Type { get }
    /// Looks for devices, and returns those that were heard within `duration`, in any order.
    ///
    /// Devices that it serves are not disturbed, and several scans may run at once. The scan ends early when its task is cancelled.
    /// `duration` begins when the device that listens does; the wait for that has a limit.
    /// - Throws: why it cannot scan, with the remedy: `unreachable` if there is nothing to listen with, `timeout` if it
    ///   does not begin.
    func scan(for duration: Duration) async throws(LinkError) -> [NearbyDevice]
}
