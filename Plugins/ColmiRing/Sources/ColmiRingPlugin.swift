package import GatewayKit

/// Rings of Colmi and of other names with the same protocol: R02, R03, R06, R09, R10.
package enum ColmiRingPlugin: Plugin {
    package static let name = "ColmiRing"
    package static let summary =
        "Colmi rings (R02 to R10): heart rate, steps, blood oxygen, stress, sleep, temperature."
    package static let drivers: [any DeviceDriver.Type] = [ColmiDriver.self]
    package static let sample = """
        # A ring with the protocol of Colmi.
        devices:
          - id: anna-ring
            name: Anna's ring
            driver: colmi-ring
            transport:
              type: bluez
              address: 30:35:47:00:11:22
              connection: periodic  # it connects for the history, and leaves, which spares the ring's battery
              connect_every: 15m
            options:
              utc_offset: 60        # minutes that the ring's clock is ahead of UTC, all year; its day begins at its midnight
        """
}
