import Vitals

extension Examples {
    /// What a scan has found.
    static let nearby = ScanReport(
        devices: [
            ScanReport.Device(
                address: "A4:C1:38:00:11:22", name: "Strap \"7\"", services: ["180d"], signalStrength: -61,
                isConnected: false, device: device,
                claims: [ScanReport.Claim("gatt-health", by: .services), ScanReport.Claim("band", by: .name)],
                transport: [ScanReport.Option("type", "bluez"), ScanReport.Option("address", "A4:C1:38:00:11:22")],
                note: nil),
            ScanReport.Device(
                address: "4A:00:00:00:00:02", name: nil, services: [], signalStrength: nil, isConnected: true,
                device: nil, claims: [],
                transport: [ScanReport.Option("type", "bluez"), ScanReport.Option("address", "4A:00:00:00:00:02")],
                note: "Its address changes."),
        ], skipped: 3, problems: [ScanReport.Problem(plugin: "radio", message: "There is no antenna.")])
}
