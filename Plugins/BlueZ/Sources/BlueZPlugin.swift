package import GatewayKit

/// Connects the gateway with devices that have Bluetooth Low Energy, by BlueZ.
package enum BlueZPlugin: Plugin {
    /// The folder's name.
    package static let name = "BlueZ"
    package static let summary = "Connects to devices with Bluetooth Low Energy, by the system's BlueZ."
    /// The transport `bluez`.
    package static let transports: [any Transport.Type] = [BlueZTransport.self]
    /// `plugins: {bluez: …}`: the adapters.
    package static let service: (any PluginService.Type)? = BlueZService.self
    /// The text of `sample.yaml`; a test compares the two.
    package static let sample = """
        # A device with Bluetooth Low Energy. BlueZ (bluetoothd) connects it.
        devices:
          - id: anna-strap
            name: Anna's strap
            driver: gatt-health
            transport:
              type: bluez
              address: A4:C1:38:00:11:22   # or name: what it advertises
              #adapter: hci0               # plugins: {bluez: {adapter: …}} when left out
              connection: persistent       # or periodic: connect, read what is there, and leave
              #connect_every: 15m          # 10s to 24h, with connection: periodic
              #idle_timeout: 10s           # a periodic connection ends after so long without a value or a request
              #connection_limit: 5m
              pairing: none                # or just_works, or passkey, or ask for one that the device makes anew
              #passkey: {file: passkey}    # the six digits on the device
              connect_timeout: 40s

        """
}
