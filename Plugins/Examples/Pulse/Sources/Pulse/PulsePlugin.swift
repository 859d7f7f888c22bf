// docs/WritingAPlugin.md shows parts of this file as they are; PluginLists, in ArchitectureTests, compares them.
import GatewayKit

/// Chest straps that speak Pulse.
public struct PulsePlugin: Plugin {
    /// What `plugins` lists it as.
    public static let name = "Pulse"
    /// What it is for.
    public static let summary = "Chest straps that send a heart rate per line and remember the last hours"
    /// A device to copy.
    public static let sample = """
        - id: strap-1
          driver: pulse
          transport: {type: tcp, host: 127.0.0.1, port: 7879}
          options: {model: strap}

        """
    /// The driver `pulse`.
    public static let drivers: [any DeviceDriver.Type] = [PulseDriver.self]
}
