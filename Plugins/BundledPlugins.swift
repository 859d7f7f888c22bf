import ColmiRing
import ESPHome
import Exec
import GATTHealth
package import GatewayKit
import HTTP
import Link
import O2Ring
import Phones
import Replay
import Simulator
import TCP

#if Bluetooth
    import BlueZ
#endif

/// The plugins that are compiled in. A new one needs its import, an entry in `all`, and its folder in the list of
/// `Package.swift`; a test reports what is missing.
package enum BundledPlugins {
    /// Every plugin, in the order shown to users.
    package static let all: [any Plugin.Type] =
        optional + [
            ColmiRingPlugin.self,
            ESPHomePlugin.self,
            ExecPlugin.self,
            FITPlugin.self,
            GATTHealthPlugin.self,
            GadgetbridgePlugin.self,
            HealthConnectExportPlugin.self,
            HTTPPlugin.self,
            LinkPlugin.self,
            O2RingPlugin.self,
            PhonesPlugin.self,
            ReplayPlugin.self,
            SimulatorPlugin.self,
            TCPPlugin.self,
        ]

    /// Those of a trait of the package, which needs a library of the system.
    #if Bluetooth
        private static let optional: [any Plugin.Type] = [BlueZPlugin.self]
        /// The transports and services that this build has not, each with what to do.
        package static let unavailable: [String: String] = [:]
    #else
        private static let optional: [any Plugin.Type] = []
        /// The transports and services that this build has not, each with what to do.
        package static let unavailable = [
            "bluez":
                "This program was built without Bluetooth. Build it without --disable-default-traits, which needs libsystemd."
        ]
    #endif
}
