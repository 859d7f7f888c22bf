package import GatewayKit

/// Straps, cuffs, oximeters, thermometers, scales and meters with the health services of the Bluetooth SIG.
package enum GATTHealthPlugin: Plugin {
    package static let name = "GATTHealth"
    package static let summary =
        "Devices with the health services of the Bluetooth SIG: straps, cuffs, oximeters, meters."
    package static let drivers: [any DeviceDriver.Type] = [HealthDriver.self]
    package static let sample = """
        # A device with health services of the Bluetooth SIG.
        devices:
          - id: anna-cuff
            name: Anna's cuff
            driver: gatt-health
            transport:
              type: bluez
              address: A4:C1:38:00:11:22
              pairing: just_works   # cuffs want it; straps do not
            options:
              # user: 1             # the only user slot that counts; people: maps several slots to persons
              variability: true     # heart-rate variability from the times between heartbeats
        """
}
