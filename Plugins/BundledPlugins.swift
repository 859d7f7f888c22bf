import Exec
package import GatewayKit
import Link
import Simulator
import TCP

/// The plugins that are compiled in. A new one needs its import, its name in `all`, and its folder's name in the list of
/// `Package.swift`; a test says which is missing.
package enum BundledPlugins {
    /// Every plugin, in the order in which they are listed to users.
    package static let all: [any Plugin.Type] = [
        ExecPlugin.self,
        LinkPlugin.self,
        SimulatorPlugin.self,
        TCPPlugin.self,
    ]
}
