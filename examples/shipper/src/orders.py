"""Code like that of your users: what the model is asked about."""


def order_total(lines, discount):
    total = 0
    count = 0
    for line in lines:
        total += line.price * line.amount
        count += line.amount
    if count > 100:
        total -= discount
    return total, count


def late_orders(orders, today):
    found = []
    oldest = None
    for order in orders:
        if order.due < today:
            found.append(order)
            oldest = min(order.due, oldest or order.due)
    return sorted(found, key=len), oldest


def shipping_label(order, country):
    street = order.street.strip()
    city = order.city.upper()
    lines = [order.name, street, city]
    if country != order.country:
        lines.append(order.country)
    return "\n".join(lines)


def parse_amount(text, separator):
    whole, _, part = text.partition(separator)
    sign = -1 if whole.startswith("-") else 1
    digits = whole.lstrip("+-")
    return sign * (int(digits) + int(part or 0) / 100)


def split_parcel(items, limit):
    parcels = []
    current = []
    weight = 0
    for item in items:
        if weight + item.weight > limit:
            parcels.append(current)
            current = []
            weight = 0
        current.append(item)
        weight += item.weight
    parcels.append(current)
    return parcels


def refund_share(order, returned):
    paid = order.total
    kept = paid - sum(item.price for item in returned)
    share = kept / paid if paid else 0
    return round(share, 2)
